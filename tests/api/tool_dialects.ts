// deno-lint-ignore-file camelcase -- names of parsers
/**
 * One call of `add_note` with the text `buy figs` as each tool format writes it; examples of our own.
 *
 * @module
 */

const CALL = '{"name": "add_note", "arguments": {"text": "buy figs"}}';
const ARGUMENTS = '{"text":"buy figs"}';

/**
 * The tool that a format calls, and its arguments: `add_note` with a text, but for UI-TARS, whose actions are all calls
 * of one tool.
 */
export function calledIn(dialect: string): { name: string; arguments: Record<string, string> } {
  if (dialect === "ui_tars") return { name: "computer", arguments: { action: "type", content: "buy figs" } };
  return { name: "add_note", arguments: { text: "buy figs" } };
}

/** Parser → what the model writes. Only formats that a parser reads are asked for. */
export const DIALECTS: Readonly<Record<string, string>> = {
  hermes: `<tool_call>\n${CALL}\n</tool_call>`,
  qwen3_coder_xml:
    "<tool_call>\n<function=add_note>\n<parameter=text>\nbuy figs\n</parameter>\n</function>\n</tool_call>",
  mistral: `[TOOL_CALLS]add_note[ARGS]${ARGUMENTS}`,
  llama: '<|python_tag|>{"name": "add_note", "parameters": {"text": "buy figs"}}',
  harmony: `<|channel|>commentary to=functions.add_note <|constrain|>json<|message|>${ARGUMENTS}<|call|>`,
  deepseek: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add_note\n```json\n" + ARGUMENTS +
    "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
  deepseek_v3: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add_note\n```json\n" + ARGUMENTS +
    "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
  deepseek_v31: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add_note<｜tool▁sep｜>" + ARGUMENTS +
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
  deepseek_v4_0731:
    '<｜DSML｜tool_calls><｜DSML｜invoke name="add_note"><｜DSML｜parameter name="text" string="true">' +
    "buy figs</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>",
  functionary: `<|recipient|>add_note\n<|content|>${ARGUMENTS}`,
  gemma4: '<|tool_call>call:add_note{text:<|"|>buy figs<|"|>}<tool_call|>',
  glm47: "<tool_call>add_note\n<arg_key>text</arg_key>\n<arg_value>buy figs</arg_value>\n</tool_call>",
  granite: `<|tool_call|>[${CALL}]`,
  hy_v3: "<tool_call:opensource>add_note<tool_sep:opensource>" + ARGUMENTS + "<end_of_tool_call:opensource>",
  k2_horizon: "<ifm|tool_calls>\n<ifm|tool_call>add_note\n<ifm|arg_key>text</ifm|arg_key>\n" +
    "<ifm|arg_value>buy figs</ifm|arg_value>\n</ifm|tool_call>\n</ifm|tool_calls>",
  kimi: "<|tool_calls_section_begin|><|tool_call_begin|>functions.add_note:0<|tool_call_argument_begin|>" + ARGUMENTS +
    "<|tool_call_end|><|tool_calls_section_end|>",
  lfm: '<|tool_call_start|>[add_note(text="buy figs")]<|tool_call_end|>',
  minicpm: '<function name="add_note"><param name="text"><![CDATA[buy figs]]></param></function>',
  minimax: '<minimax:tool_call>\n<invoke name="add_note">\n<parameter name="text">buy figs</parameter>\n</invoke>\n' +
    "</minimax:tool_call>",
  muse: ' to=add_note<|message|><atem:function_calls>\n<atem:invoke name="add_note">\n' +
    '<atem:parameter name="text">buy figs</atem:parameter>\n</atem:invoke>\n</atem:function_calls>',
  seed_oss: "<seed:tool_call><function=add_note><parameter=text>buy figs</parameter></function></seed:tool_call>",
  ui_tars: "Thought: I type it.\nAction: type(content='buy figs')",
  xlam: `[${CALL}]`,
};
