/// The strict JSON reader: what it takes, what it refuses, and that nothing makes it trap.

import Foundation
import Layers
import Testing

private func parse(_ text: String) throws -> ConfigValue { try JSONText.parse(Data(text.utf8)) }

extension RuntimeTests {
    @Suite("JSONText") struct JSONTextTests {
        @Test("Values keep their kind: integers, numbers, words, strings, nesting")
        func values() throws {
            #expect(
                try parse(" [1, -2, 1.5, 1e3, 0, true, false, null, \"a\"] ")
                    == .array([
                        .integer(1), .integer(-2), .number(1.5), .number(1000), .integer(0), .bool(true), .bool(false),
                        .null,
                        .string("a"),
                    ]))
            #expect(try parse("{}") == .object([:]) && parse("[]") == .array([]))
            #expect(try parse(#"{"a":{"b":[{}]}}"#) == .object(["a": .object(["b": .array([.object([:])])])]))
            #expect(try parse("[Infinity, -Infinity]") == .array([.number(.infinity), .number(-.infinity)]))
            #expect(try parse("99999999999999999999") == .number(1e20))
        }

        @Test("Escapes and surrogate pairs become their characters")
        func escapes() throws {
            #expect(try parse(#""\"\\\/\b\f\n\r\tA\u00e9\ud83d\ude42""#) == .string("\"\\/\u{08}\u{0C}\n\r\tAé🙂"))
        }

        @Test(
            "Malformed text is refused",
            arguments: [
                "", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", ".5", "-", "1e", "+1", "tru", "nul", "[1 2]",
                "\"abc", "\"\u{01}\"", "{\"a\u{01}\":1}", #""\x""#, #""\u12g4""#, #""\ud83d""#, #""\ude42""#,
                #""\ud83d\u0041""#, "[] []", #"{"a":1,"a":2}"#, "1 1",
            ])
        func malformed(_ text: String) {
            #expect(throws: JSONText.Failure.self) { try parse(text) }
        }

        @Test("Bytes that are not UTF-8 and endless nesting are refused")
        func hostile() {
            #expect(throws: JSONText.Failure.self) { try JSONText.parse(Data([0x22, 0xFF, 0xFE, 0x22])) }
            #expect(throws: JSONText.Failure.self) { try parse(String(repeating: "[", count: 1_000_000)) }
        }

        @Test("20,000 seeded mutations of a document never trap")
        func mutations() throws {
            let sound = Data(#"{"a\u00e9":[1,-2.5e-3,{"b":null}],"c":"\ud83d\ude42","d":true}"#.utf8)
            var generator = SeededGenerator(seed: 17)
            var accepted = 0
            for _ in 0..<20_000 where (try? JSONText.parse(mutated(sound, &generator))) != nil { accepted += 1 }
            #expect(accepted > 100 && accepted < 19_000)
        }
    }
}
