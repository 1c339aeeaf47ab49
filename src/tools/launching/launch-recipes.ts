import type { LaunchRecipe } from '../tool.ts';

const openAiVariables = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'OPENAI_API_BASE',
  'OPENAI_ORG_ID',
  'OPENAI_ORGANIZATION',
  'OPENAI_PROJECT_ID',
];

const claudeEnvironment = {
  ANTHROPIC_BASE_URL: '<base_url>',
  ANTHROPIC_MODEL: '<model>',
  ANTHROPIC_DEFAULT_OPUS_MODEL: '<model>',
  ANTHROPIC_DEFAULT_SONNET_MODEL: '<model>',
  ANTHROPIC_DEFAULT_HAIKU_MODEL: '<model>',
};

const openCodeConfiguration = JSON.stringify({
  provider: {
    modelgate: {
      npm: '@ai-sdk/openai-compatible',
      name: 'Modelgate',
      options: { baseURL: '<base_url>', apiKey: '{env:<key_variable>}' },
      models: { '<model>': { name: '<model>' } },
    },
  },
  model: 'modelgate/<model>',
});

/**
 * How tools are launched that can be pointed at a gateway without their files, by id. Seen to work with the versions that the catalogue
 * names.
 */
export const launchRecipes: Readonly<Record<string, LaunchRecipe>> = {
  claude: {
    environment: { ...claudeEnvironment, ANTHROPIC_AUTH_TOKEN: '<api_key>' },
    // The `env` group of the user's settings wins over the environment, and this over both (seen with 2.1.329).
    arguments: [['--settings', { env: claudeEnvironment }]],
    conflicts: [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_SMALL_FAST_MODEL',
      'ANTHROPIC_BEDROCK_BASE_URL',
      'ANTHROPIC_VERTEX_BASE_URL',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'CLAUDE_CODE_USE_BEDROCK',
      'CLAUDE_CODE_USE_VERTEX',
      'CLAUDE_CODE_USE_FOUNDRY',
    ],
  },
  codex: {
    environment: {},
    arguments: [
      ['-c', 'model="<model>"'],
      ['-c', 'model_provider="modelgate"'],
      ['-c', 'model_providers.modelgate.name="Modelgate"'],
      ['-c', 'model_providers.modelgate.base_url="<base_url>"'],
      ['-c', 'model_providers.modelgate.env_key="<key_variable>"'],
      ['-c', 'model_providers.modelgate.wire_api="responses"'],
    ],
    conflicts: [...openAiVariables, 'CODEX_API_KEY'],
  },
  qwen: {
    environment: {
      OPENAI_BASE_URL: '<base_url>',
      OPENAI_API_KEY: '<api_key>',
      OPENAI_MODEL: '<model>',
    },
    arguments: [
      ['--auth-type', 'openai'],
      ['--model', '<model>'],
    ],
    conflicts: ['OPENAI_API_BASE', 'OPENAI_ORG_ID', 'OPENAI_ORGANIZATION', 'QWEN_MODEL'],
  },
  opencode: {
    // It is laid over the user's own configuration.
    environment: {
      OPENCODE_CONFIG_CONTENT: openCodeConfiguration,
    },
    conflicts: [],
  },
  // It began as OpenCode and takes the same.
  kilo: { environment: { KILO_CONFIG_CONTENT: openCodeConfiguration }, conflicts: [] },
};
