import assert from "node:assert/strict";
import { inOrder, readTargets } from "./check.ts";
import { readDeclarations } from "./declarations.ts";
import { readList, writeList } from "./list.ts";
import { findCheckout, type Located } from "./upstream.ts";
import { absentNamesUsed, declaredNames } from "./uses.ts";

const spelled = (source: string): string[] =>
  readDeclarations(source).map(({ context, text }) => (context === "" ? text : `${context} | ${text}`));

Deno.test("declarations are read without comments, bodies, attributes and line breaks", () => {
  const source = `
    /// public func no()
    @discardableResult
    @available(*, deprecated, message: "say (that)")
    public func add(
        _ a: some ScalarOrArray, stream: StreamOrDevice = .default
    )
        -> MLXArray
    {
        public let x = "}"
    }
    func hidden() {}
    static public let cpu: Device = Device(.cpu)
    public var shape: [Int] { [] }`;
  assert.deepEqual(spelled(source), [
    "public func add(_ a: some ScalarOrArray, stream: StreamOrDevice = .default) -> MLXArray",
    "public static let cpu: Device",
    "public var shape: [Int]",
  ]);
  assert.equal(readDeclarations(source)[0]?.discouraged, true);
});

Deno.test("members know their types; members of protocols and cases are public", () => {
  const source = `
    public enum Fast { case none, all(Int)
      public enum Mode { case causal }
      enum Hidden { case secret } }
    public protocol Index { var operation: Int { get } }
    extension Index where Self == Slice { public static var full: Self { Self() } }
    extension MLXArray { #if os(Linux)
      public static func .== (lhs: MLXArray, rhs: Int) -> MLXArray { lhs }
      #endif
    }
    public final class Box: @unchecked (Sendable) { public init(_ f: @escaping () -> Void) { } }`;
  assert.deepEqual(spelled(source), [
    "public enum Fast",
    "Fast | case none, all(Int)",
    "Fast | public enum Mode",
    "Fast.Mode | case causal",
    "public protocol Index",
    "Index | var operation: Int",
    "Index where Self == Slice | public static var full: Self",
    "MLXArray | public static func .== (lhs: MLXArray, rhs: Int) -> MLXArray",
    "final public class Box: @unchecked (Sendable)",
    "Box | public init(_ f: @escaping () -> Void)",
  ]);
});

Deno.test("the name is what code says to use it", () => {
  const source = "public func `where`(_ a: Int) {}\nextension A { public static func ** (a: A, b: A) -> A { a } }\n" +
    "public struct Pair<T> { public init() {} ; public subscript(i: Int) -> T { t } }";
  assert.deepEqual(readDeclarations(source).map((found) => found.name), ["where", "**", "Pair", "init", "subscript"]);
});

const located = (file: string, source: string): Located[] =>
  readDeclarations(source).map((declaration) => ({ ...declaration, file }));

Deno.test("the list names upstream's files, refuses strangers and reads back what it wrote", () => {
  const upstream = located(
    "Ops.swift",
    "public func add(_ a: Int) {}\npublic func vmap() {}\npublic enum Q { case a }",
  );
  const ours = located("Mine.swift", "public enum Q { case a }\npublic func add(_ a: Int) {}");
  const text = writeList(ours, upstream);
  assert.match(text, /## Source\/MLX\/Ops\.swift/);
  const list = readList(text);
  assert.deepEqual(list.ours.map(({ context, text }) => `${context}|${text}`).sort(), [
    "Q|case a",
    "|public enum Q",
    "|public func add(_ a: Int)",
  ]);
  assert.deepEqual(list.absent, ["vmap"]);
  assert.throws(
    () => writeList(located("Mine.swift", "public func add(_ a: Int64) {}"), upstream),
    /Mine\.swift: {2}\| public func add\(_ a: Int64\)/,
  );
});

Deno.test("absent names are found as calls, members and types, unless the code declares them", () => {
  const code =
    "let a = vmap(x)\nlet b = x.trace\nfunc fft(_ y: Int) {}\nfft(1)\nvar n: NestedItem\nlet norm = 1 + inner";
  const own = declaredNames([code]);
  assert.deepEqual(absentNamesUsed(code, ["vmap", "trace", "fft", "NestedItem", "norm", "inner"], own), [
    { name: "vmap", line: 1 },
    { name: "trace", line: 2 },
    { name: "NestedItem", line: 5 },
  ]);
});

Deno.test("targets that reach MLX come after what they import; tests and others are left out", () => {
  const target = (name: string, type: string, dependencies: object[]): object => ({
    name,
    type,
    path: name,
    dependencies,
  });
  const manifest = JSON.stringify({
    targets: [
      target("Runtime", "regular", [{ byName: ["Kernels", null] }, { byName: ["Engine", null] }]),
      target("Engine", "regular", []),
      target("Alone", "regular", []),
      target("Kernels", "regular", [{ product: ["MLX", "mlx-swift", null, null] }]),
      target("RuntimeTests", "test", [{ byName: ["Runtime", null] }]),
    ],
  });
  assert.deepEqual(inOrder(readTargets(manifest)).map((found) => found.name), ["Kernels", "Engine", "Runtime"]);
});

Deno.test("a missing checkout is named with what is wanted", async () => {
  await assert.rejects(findCheckout(() => undefined), /RMX_MLX_SWIFT is not set.*0\.31\.3/);
  await assert.rejects(findCheckout(() => "/nowhere/mlx"), /must name a folder called mlx-swift/);
  await assert.rejects(findCheckout(() => "/nowhere/mlx-swift"), /there is no \/nowhere\/mlx-swift\/Source/);
});
