/**
 * Variables that win over what the gateway writes into the files of a tool, by its id. They were found by running the
 * tools with them on 2026-11-22; those of Goose stand in its source. Addresses, keys and models for OpenAI's and
 * Anthropic's libraries did not win in Codex, Qwen Code, Copilot CLI, Cline, Continue, Droid, Pi and Oh My Pi.
 */
const overrides: Readonly<Record<string, readonly string[]>> = {
  claude: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX'],
  'agent-deck': ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX'],
  opencode: ['OPENCODE_CONFIG_CONTENT'],
  kilo: ['KILO_CONFIG_CONTENT'],
  goose: ['GOOSE_PROVIDER', 'GOOSE_MODEL'],
  openclaw: ['OPENCLAW_CONFIG_PATH'],
  letta: ['LETTA_BASE_URL'],
};

/** @param id of the tool */
export function overridingVariables(id: string): readonly string[] {
  return overrides[id] ?? [];
}
