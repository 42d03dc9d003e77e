// Parameters that take one number for all axes or one for each.

/// One number for two axes, or a pair.
public struct IntOrPair: ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, Sendable {
    /// The number of each axis.
    public let values: (Int, Int)

    /// The number of the first axis.
    public var first: Int { values.0 }
    /// The number of the second axis.
    public var second: Int { values.1 }

    /// The same number for both.
    public init(integerLiteral value: Int) {
        values = (value, value)
    }

    /// A literal of two numbers.
    public init(arrayLiteral elements: Int...) {
        precondition(elements.count == 2, "a pair wants 2 numbers, found \(elements)")
        values = (elements[0], elements[1])
    }

    /// One number for each axis.
    public init(_ values: (Int, Int)) {
        self.values = values
    }

    /// The same number for both.
    public init(_ value: Int) {
        values = (value, value)
    }
}

/// One number for three axes, or three.
public struct IntOrTriple: ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, Sendable {
    /// The number of each axis.
    public let values: (Int, Int, Int)

    /// The number of the first axis.
    public var first: Int { values.0 }
    /// The number of the second axis.
    public var second: Int { values.1 }
    /// The number of the third axis.
    public var third: Int { values.2 }

    /// The same number for all.
    public init(integerLiteral value: Int) {
        values = (value, value, value)
    }

    /// A literal of three numbers.
    public init(arrayLiteral elements: Int...) {
        precondition(elements.count == 3, "a triple wants 3 numbers, found \(elements)")
        values = (elements[0], elements[1], elements[2])
    }

    /// One number for each axis.
    public init(_ values: (Int, Int, Int)) {
        self.values = values
    }

    /// The same number for all.
    public init(_ value: Int) {
        values = (value, value, value)
    }
}
