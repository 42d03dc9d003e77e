import assert from "node:assert/strict";
import { ConfigError, isLoopback, loadConfig, SERVE_FLAGS, toOptionKey, toVariable } from "./config.ts";

Deno.test("loadConfig gives safe defaults and a frozen value", () => {
  const config = loadConfig({}, {});
  assert.equal(config.host, "127.0.0.1");
  assert.equal(config.port, undefined);
  assert.equal(config.maxBodyBytes, 8 * 1024 * 1024);
  assert.equal(config.drainMs, 30_000);
  assert.equal(config.logLevel, "info");
  assert.deepEqual(config.allowHosts, []);
  assert.equal("apiKey" in config, false);
  assert.throws(() => Object.assign(config, { host: "0.0.0.0" }), TypeError);
});

Deno.test("loadConfig prefers a flag to its twin and the twin to the default", () => {
  const environment = { RAPID_MLX_PORT: "9000", RAPID_MLX_MAX_QUEUE: "7", RAPID_MLX_MODEL: "twin" };
  const config = loadConfig({ port: "9001" }, environment);
  assert.equal(config.port, 9001);
  assert.equal(config.maxQueue, 7);
  assert.equal(config.model, "twin");
  assert.equal(loadConfig({}, environment, "given").model, "given");
});

Deno.test("loadConfig reads a value for every flag that takes one, from its twin", () => {
  const samples: Record<string, string> = {
    "cpu-arithmetic": "exact",
    "log-level": "debug",
    "allow-origin": "*",
    "tool-arguments": "live",
  };
  for (const flag of SERVE_FLAGS) {
    const environment = { [toVariable(flag.name)]: samples[flag.name] ?? (flag.value === undefined ? "1" : "1024") };
    if (flag.unavailable !== undefined) {
      assert.throws(() => loadConfig({}, environment), new RegExp(`${toVariable(flag.name)} is not available yet`));
    } else {
      loadConfig({ apiKey: "k" }, environment);
    }
  }
});

Deno.test("loadConfig refuses an interface that others can reach unless a key is set", () => {
  for (const host of ["0.0.0.0", "192.168.1.5", "::", "example.internal"]) {
    assert.throws(() => loadConfig({ host }, {}), /without a key.*--api-key/);
    assert.equal(loadConfig({ host, apiKey: "secret" }, {}).host, host);
  }
  for (const host of ["127.0.0.1", "127.8.8.8", "localhost", "::1"]) {
    assert.equal(loadConfig({ host }, {}).host, host);
    assert.ok(isLoopback(host));
  }
});

Deno.test("loadConfig names the flag or the variable that it can't use", () => {
  const bad: [Record<string, unknown>, Record<string, string>, RegExp][] = [
    [{ port: "99999" }, {}, /--port/],
    [{ port: "abc" }, {}, /--port/],
    [{}, { RAPID_MLX_PORT: "-1" }, /RAPID_MLX_PORT/],
    [{ maxBodyBytes: "10" }, {}, /--max-body-bytes/],
    [{ apiKey: "" }, {}, /--api-key is empty/],
    [{}, { RAPID_MLX_API_KEY: "" }, /RAPID_MLX_API_KEY is empty/],
    [{ apiKey: "two words" }, {}, /--api-key/],
    [{ allowOrigin: ["app.example"] }, {}, /--allow-origin.*https:\/\/app\.example/],
    [{ allowOrigin: ["https://app.example/path"] }, {}, /--allow-origin/],
    [{ allowHost: ["evil.example:80"] }, {}, /--allow-host/],
    [{ cpuArithmetic: "quick" }, {}, /--cpu-arithmetic/],
    [{ logLevel: "loud" }, {}, /--log-level/],
    [{ kvDtype: "int8" }, {}, /--kv-dtype is not available yet/],
    [{}, { RAPID_MLX_KEEP_CONTENT: "maybe" }, /RAPID_MLX_KEEP_CONTENT/],
  ];
  for (const [flags, environment, message] of bad) {
    assert.throws(() => loadConfig(flags, environment), (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, message);
      return true;
    });
  }
});

Deno.test("loadConfig takes lists from repeated flags and from commas in the twin", () => {
  const config = loadConfig(
    { allowHost: ["Mac.local", "box"] },
    { RAPID_MLX_ALLOW_ORIGIN: "https://a.example, http://b:3000" },
  );
  assert.deepEqual(config.allowHosts, ["mac.local", "box"]);
  assert.deepEqual(config.allowOrigins, ["https://a.example", "http://b:3000"]);
});

Deno.test("loadConfig counts memory in bytes and lists variables that no flag has", () => {
  const config = loadConfig({ memoryGb: "1.5" }, { RAPID_MLX_MAX_QUEU: "3", PATH: "/bin" });
  assert.equal(config.memoryBytes, 1.5 * 2 ** 30);
  assert.deepEqual(config.unknownVariables, ["RAPID_MLX_MAX_QUEU"]);
});

Deno.test("flag names turn into option keys and variables", () => {
  assert.equal(toOptionKey("max-body-bytes"), "maxBodyBytes");
  assert.equal(toVariable("max-body-bytes"), "RAPID_MLX_MAX_BODY_BYTES");
});

Deno.test("loadConfig takes a script instead of a model, not beside one", () => {
  assert.equal(loadConfig({ fake: "s.json" }, {}).fakeScriptPath, "s.json");
  assert.throws(() => loadConfig({ fake: "s.json" }, {}, "some-model"), /some-model with --fake/);
});
