import type { WireFormat } from '../../src/codecs/wire-format.ts';
import type { DirectoryEntry } from '../../src/providers/directory.ts';

/** What we know of a provider of the data set that the data set does not say, from the page named beside it. */
export interface Correction
  extends Partial<
    Pick<
      DirectoryEntry,
      | 'category'
      | 'zeroIsFree'
      | 'auth'
      | 'formatAuth'
      | 'freeTier'
      | 'website'
      | 'like'
      | 'modelsPath'
      | 'localPort'
      | 'unpriced'
    >
  > {
  /** Root of an API that is that of another provider, `like`. */
  root?: string;
  /** Addresses by format, instead of the one that follows from the data set. `{name}` is a parameter. */
  urls?: Partial<Record<WireFormat, string>>;
  /** Addresses beside the one that follows from the data set. */
  more?: Partial<Record<WireFormat, string>>;
  keyVariables?: string[];
}

/** Providers with a file of their own in `src/providers/`, by the id that the data set has for them. */
export const withOwnFile: Readonly<Record<string, string>> = {
  alibaba: 'qwen',
  'amazon-bedrock': 'bedrock',
  anthropic: 'anthropic',
  azure: 'azure-openai',
  cerebras: 'cerebras',
  deepseek: 'deepseek',
  'fireworks-ai': 'fireworks',
  google: 'gemini',
  'google-vertex': 'vertex',
  'google-vertex-anthropic': 'vertex-anthropic',
  groq: 'groq',
  lmstudio: 'lm-studio',
  minimax: 'minimax',
  mistral: 'mistral',
  moonshotai: 'moonshot',
  nvidia: 'nvidia',
  openai: 'openai',
  openrouter: 'openrouter',
  'sap-ai-core': 'sap-ai-core',
  togetherai: 'together',
  xai: 'xai',
  zai: 'zai',
};

/** Providers that none of our formats reaches, and why. */
export const leftOut: Readonly<Record<string, string>> = {
  'github-copilot': 'GitHub documents no API for it: editors exchange a login for tokens of minutes',
  gitlab: 'its proxies take tokens of minutes that another API hands out',
};

const apiKeyHeader = { kind: 'header', name: 'x-api-key' } as const;
const messagesByKey = { 'anthropic-messages': apiKeyHeader };

/** The same API at another address. */
const sameAs = (like: string, root: string): Correction => ({ like, root });

/** A plan of Alibaba's: https://www.alibabacloud.com/help/en/model-studio/coding-plan */
const alibabaPlan = (root: string, chat: string): Correction => ({
  urls: {
    'openai-chat': `${root}${chat}/chat/completions`,
    'anthropic-messages': `${root}/apps/anthropic/v1/messages`,
  },
});

/** The coding plan of Z.ai and of Zhipu: https://docs.z.ai/devpack/tool/claude */
const glmPlan = (root: string): Correction => ({
  urls: {
    'openai-chat': `${root}/coding/paas/v4/chat/completions`,
    'anthropic-messages': `${root}/anthropic/v1/messages`,
  },
  modelsPath: null,
});

const xiaomi = (host: string): Correction => ({
  more: { 'anthropic-messages': `https://${host}/anthropic/v1/messages` },
});

/**
 * Addresses were compared with what the data set notes of each provider's documentation ("Audited POST …", "Raw HTTP
 * routes …"), and with the documentation itself where it notes nothing.
 */
export const corrections: Readonly<Record<string, Correction>> = {
  '302ai': { website: 'https://302.ai' },
  'abliteration-ai': {
    more: {
      'openai-responses': 'https://api.abliteration.ai/v1/responses',
      'anthropic-messages': 'https://api.abliteration.ai/v1/messages',
    },
  },
  // https://docs.aihubmix.com/en/api-reference
  aihubmix: {
    website: 'https://aihubmix.com/token',
    urls: {
      'openai-chat': 'https://aihubmix.com/v1/chat/completions',
      'openai-responses': 'https://aihubmix.com/v1/responses',
      'openai-embeddings': 'https://aihubmix.com/v1/embeddings',
      'anthropic-messages': 'https://aihubmix.com/v1/messages',
    },
    formatAuth: messagesByKey,
  },
  'alibaba-cn': {
    ...sameAs('qwen', 'https://dashscope.aliyuncs.com'),
    website: 'https://bailian.console.aliyun.com',
  },
  'alibaba-coding-plan': alibabaPlan('https://coding-intl.dashscope.aliyuncs.com', '/v1'),
  'alibaba-coding-plan-cn': alibabaPlan('https://coding.dashscope.aliyuncs.com', '/v1'),
  'alibaba-token-plan': alibabaPlan(
    'https://token-plan.ap-southeast-1.maas.aliyuncs.com',
    '/compatible-mode/v1',
  ),
  'alibaba-token-plan-cn': alibabaPlan(
    'https://token-plan.cn-beijing.maas.aliyuncs.com',
    '/compatible-mode/v1',
  ),
  'atomic-chat': {
    category: 'local',
    auth: { kind: 'bearer', optional: true },
    unpriced: 'free',
    localPort: 1337,
  },
  // https://learn.microsoft.com/azure/foundry/openai/how-to/reasoning, https://learn.microsoft.com/azure/foundry/foundry-models/how-to/use-foundry-models-claude
  'azure-cognitive-services': {
    like: 'azure-openai',
    website: 'https://ai.azure.com',
    formatAuth: messagesByKey,
    urls: {
      'openai-chat': 'https://{resource}.services.ai.azure.com/openai/v1/chat/completions',
      'openai-responses': 'https://{resource}.services.ai.azure.com/openai/v1/responses',
      'openai-embeddings': 'https://{resource}.services.ai.azure.com/openai/v1/embeddings',
      'anthropic-messages': 'https://{resource}.services.ai.azure.com/anthropic/v1/messages',
    },
    modelsPath: null,
  },
  bailing: { urls: { 'openai-chat': 'https://api.tbox.cn/api/llm/v1/chat/completions' } },
  baseten: { website: 'https://app.baseten.co/settings/api_keys' },
  chutes: { website: 'https://chutes.ai' },
  clarifai: { website: 'https://clarifai.com/settings/security' },
  claudinio: {
    more: {
      'openai-responses': 'https://api.claudin.io/v1/responses',
      'anthropic-messages': 'https://api.claudin.io/v1/messages',
    },
  },
  // https://developers.cloudflare.com/ai-gateway/usage/rest-api/
  'cloudflare-ai-gateway': {
    category: 'cloud',
    website: 'https://dash.cloudflare.com/profile/api-tokens',
    urls: {
      'openai-chat': 'https://api.cloudflare.com/client/v4/accounts/{account_id}/ai/v1/chat/completions',
      'openai-responses': 'https://api.cloudflare.com/client/v4/accounts/{account_id}/ai/v1/responses',
      'anthropic-messages': 'https://api.cloudflare.com/client/v4/accounts/{account_id}/ai/v1/messages',
    },
    modelsPath: null,
    keyVariables: ['CLOUDFLARE_API_TOKEN'],
  },
  // https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/
  'cloudflare-workers-ai': {
    category: 'cloud',
    website: 'https://dash.cloudflare.com/profile/api-tokens',
    freeTier: 'https://developers.cloudflare.com/workers-ai/platform/pricing/',
    urls: {
      'openai-chat': 'https://api.cloudflare.com/client/v4/accounts/{account_id}/ai/v1/chat/completions',
      'openai-responses': 'https://api.cloudflare.com/client/v4/accounts/{account_id}/ai/v1/responses',
      'openai-embeddings': 'https://api.cloudflare.com/client/v4/accounts/{account_id}/ai/v1/embeddings',
    },
    modelsPath: null,
    keyVariables: ['CLOUDFLARE_API_KEY'],
  },
  // https://docs.cohere.com/docs/compatibility-api
  cohere: {
    website: 'https://dashboard.cohere.com/api-keys',
    freeTier: 'https://docs.cohere.com/docs/rate-limits',
    urls: {
      'openai-chat': 'https://api.cohere.ai/compatibility/v1/chat/completions',
      'openai-embeddings': 'https://api.cohere.ai/compatibility/v1/embeddings',
    },
    modelsPath: null,
  },
  databricks: {
    category: 'cloud',
    website: 'https://accounts.cloud.databricks.com',
    urls: { 'openai-chat': 'https://{host}/ai-gateway/mlflow/v1/chat/completions' },
    modelsPath: null,
    keyVariables: ['DATABRICKS_TOKEN'],
  },
  // https://docs.deepinfra.com/api-reference
  deepinfra: {
    website: 'https://deepinfra.com/dash/api_keys',
    urls: {
      'openai-chat': 'https://api.deepinfra.com/v1/openai/chat/completions',
      'openai-completions': 'https://api.deepinfra.com/v1/openai/completions',
      'openai-embeddings': 'https://api.deepinfra.com/v1/openai/embeddings',
      'anthropic-messages': 'https://api.deepinfra.com/anthropic/v1/messages',
    },
  },
  digitalocean: {
    website: 'https://cloud.digitalocean.com/gen-ai',
    more: {
      'openai-responses': 'https://inference.do-ai.run/v1/responses',
      'anthropic-messages': 'https://inference.do-ai.run/v1/messages',
    },
  },
  freemodel: { formatAuth: messagesByKey },
  friendli: { website: 'https://friendli.ai/suite' },
  frogbot: { more: { 'anthropic-messages': 'https://app.frogbot.ai/api/v1/messages' } },
  // https://docs.github.com/rest/models/inference
  'github-models': {
    zeroIsFree: true,
    website: 'https://github.com/settings/personal-access-tokens',
    freeTier:
      'https://docs.github.com/en/github-models/use-github-models/prototyping-with-ai-models#rate-limits',
    more: { 'openai-embeddings': 'https://models.github.ai/inference/embeddings' },
    modelsPath: null,
  },
  // https://docs.gmicloud.ai/model-quickstarts
  gmicloud: { more: { 'anthropic-messages': 'https://api.gmi-serving.com/v1/messages' } },
  helicone: {
    website: 'https://us.helicone.ai/settings/api-keys',
    more: { 'openai-responses': 'https://ai-gateway.helicone.ai/v1/responses' },
  },
  huggingface: {
    website: 'https://huggingface.co/settings/tokens',
    freeTier: 'https://huggingface.co/docs/inference-providers/pricing',
  },
  iflowcn: { zeroIsFree: true, freeTier: 'https://platform.iflow.cn/en/docs' },
  // https://docs.inference.net/quickstart
  inference: {
    website: 'https://inference.net/dashboard',
    urls: { 'openai-chat': 'https://api.inference.net/v1/chat/completions' },
  },
  jiekou: { more: { 'anthropic-messages': 'https://api.jiekou.ai/anthropic/v1/messages' } },
  kilo: {
    freeTier: 'https://kilo.ai/docs/gateway',
    more: {
      'openai-responses': 'https://api.kilo.ai/api/gateway/responses',
      'anthropic-messages': 'https://api.kilo.ai/api/gateway/messages',
    },
  },
  // https://www.kimi.com/code/docs/en/third-party-tools/other-coding-agents.html
  'kimi-for-coding': {
    zeroIsFree: true,
    website: 'https://www.kimi.com/code',
    formatAuth: messagesByKey,
    more: { 'openai-chat': 'https://api.kimi.com/coding/v1/chat/completions' },
  },
  llama: {
    zeroIsFree: true,
    website: 'https://llama.developer.meta.com',
    freeTier: 'https://llama.developer.meta.com/docs/models',
  },
  llmgateway: {
    website: 'https://llmgateway.io/dashboard',
    more: { 'anthropic-messages': 'https://api.llmgateway.io/v1/messages' },
  },
  llmtr: { more: { 'openai-responses': 'https://llmtr.com/v1/responses' } },
  // https://docs.merge.dev/merge-gateway/get-started
  'merge-gateway': {
    website: 'https://gateway.merge.dev/api-keys',
    freeTier: 'https://docs.merge.dev/merge-gateway/cost/pricing',
    urls: {
      'openai-chat': 'https://api-gateway.merge.dev/v1/openai/chat/completions',
      'anthropic-messages': 'https://api-gateway.merge.dev/v1/anthropic/v1/messages',
    },
    modelsPath: null,
  },
  'minimax-cn': {
    ...sameAs('minimax', 'https://api.minimaxi.com'),
    website: 'https://platform.minimaxi.com',
  },
  'minimax-cn-coding-plan': {
    ...sameAs('minimax', 'https://api.minimaxi.com'),
    website: 'https://platform.minimaxi.com',
  },
  'minimax-coding-plan': sameAs('minimax', 'https://api.minimax.io'),
  modelscope: {
    zeroIsFree: true,
    website: 'https://modelscope.cn/my/myaccesstoken',
    freeTier: 'https://modelscope.cn/docs/model-service/API-Inference/limits',
  },
  'moonshotai-cn': {
    ...sameAs('moonshot', 'https://api.moonshot.cn'),
    website: 'https://platform.moonshot.cn',
  },
  nebius: { website: 'https://tokenfactory.nebius.com' },
  // https://neon.com/docs/ai-gateway/chat-completions
  neon: {
    category: 'cloud',
    website: 'https://console.neon.tech',
    urls: {
      'openai-chat': 'https://{host}/ai-gateway/mlflow/v1/chat/completions',
      'openai-responses': 'https://{host}/ai-gateway/openai/v1/responses',
      'anthropic-messages': 'https://{host}/ai-gateway/anthropic/v1/messages',
      gemini: 'https://{host}/ai-gateway/gemini/v1beta/models',
    },
    modelsPath: null,
    keyVariables: ['NEON_AI_GATEWAY_TOKEN'],
  },
  // https://novita.ai/docs/api-reference/model-apis-llm-create-chat-completion, https://novita.ai/docs/guides/llm-anthropic-compatibility
  'novita-ai': {
    website: 'https://novita.ai/settings/key-management',
    urls: {
      'openai-chat': 'https://api.novita.ai/openai/v1/chat/completions',
      'openai-completions': 'https://api.novita.ai/openai/v1/completions',
      'openai-embeddings': 'https://api.novita.ai/openai/v1/embeddings',
      'anthropic-messages': 'https://api.novita.ai/anthropic/v1/messages',
    },
  },
  // https://docs.ollama.com/cloud
  'ollama-cloud': {
    website: 'https://ollama.com/settings/keys',
    freeTier: 'https://ollama.com/pricing',
    more: { ollama: 'https://ollama.com/api/chat' },
  },
  // https://opencode.ai/docs/zen#endpoints
  opencode: {
    website: 'https://opencode.ai/auth',
    freeTier: 'https://opencode.ai/docs/zen#pricing',
    more: {
      'openai-responses': 'https://opencode.ai/zen/v1/responses',
      'anthropic-messages': 'https://opencode.ai/zen/v1/messages',
      gemini: 'https://opencode.ai/zen/v1/models',
    },
    formatAuth: { ...messagesByKey, gemini: { kind: 'header', name: 'x-goog-api-key' } },
  },
  'opencode-go': {
    website: 'https://opencode.ai/auth',
    more: { 'anthropic-messages': 'https://opencode.ai/zen/go/v1/messages' },
    formatAuth: messagesByKey,
  },
  orcarouter: { more: { 'anthropic-messages': 'https://api.orcarouter.ai/v1/messages' } },
  ovhcloud: {
    website: 'https://endpoints.ai.cloud.ovh.net',
    freeTier: 'https://www.ovhcloud.com/en/public-cloud/ai-endpoints/catalog/',
    more: { 'openai-responses': 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1/responses' },
  },
  // https://docs.perplexity.ai/docs/sonar/openai-compatibility
  perplexity: {
    website: 'https://www.perplexity.ai/account/api',
    urls: { 'openai-chat': 'https://api.perplexity.ai/chat/completions' },
    modelsPath: null,
  },
  // https://docs.perplexity.ai/docs/agent-api/openai-compatibility
  'perplexity-agent': {
    website: 'https://www.perplexity.ai/account/api',
    urls: { 'openai-responses': 'https://api.perplexity.ai/v1/responses' },
    modelsPath: '/v1/models',
  },
  poe: {
    website: 'https://poe.com/api_key',
    more: { 'openai-responses': 'https://api.poe.com/v1/responses' },
  },
  // Its proxy runs on the machine of whoever uses it; the models do not, and cost money.
  'privatemode-ai': { urls: { 'openai-chat': 'http://127.0.0.1:8080/v1/chat/completions' } },
  requesty: { website: 'https://app.requesty.ai/api-keys' },
  sakana: { urls: { 'openai-responses': 'https://api.sakana.ai/v1/responses' } },
  scaleway: { website: 'https://console.scaleway.com/iam/api-keys' },
  siliconflow: { website: 'https://cloud.siliconflow.com/account/ak' },
  'siliconflow-cn': { website: 'https://cloud.siliconflow.cn/account/ak' },
  'snowflake-cortex': {
    category: 'cloud',
    website: 'https://app.snowflake.com',
    urls: { 'openai-chat': 'https://{account}.snowflakecomputing.com/api/v2/cortex/v1/chat/completions' },
    modelsPath: null,
    keyVariables: ['SNOWFLAKE_CORTEX_PAT'],
  },
  stackit: { website: 'https://portal.stackit.cloud' },
  stepfun: {
    website: 'https://platform.stepfun.com/interface-key',
    more: {
      'openai-responses': 'https://api.stepfun.com/v1/responses',
      'anthropic-messages': 'https://api.stepfun.com/v1/messages',
    },
  },
  'stepfun-ai': { more: { 'anthropic-messages': 'https://api.stepfun.ai/step_plan/v1/messages' } },
  // https://dev.synthetic.new/docs/api/overview
  synthetic: {
    website: 'https://synthetic.new',
    more: { 'anthropic-messages': 'https://api.synthetic.new/anthropic/v1/messages' },
  },
  'umans-ai': { more: { 'anthropic-messages': 'https://api.code.umans.ai/v1/messages' } },
  'umans-ai-coding-plan': { more: { 'anthropic-messages': 'https://api.code.umans.ai/v1/messages' } },
  upstage: { website: 'https://console.upstage.ai/api-keys' },
  v0: {
    website: 'https://v0.app/chat/settings/keys',
    urls: { 'openai-chat': 'https://api.v0.dev/v1/chat/completions' },
    modelsPath: null,
  },
  // https://docs.venice.ai/api-reference
  venice: {
    website: 'https://venice.ai/settings/api',
    urls: {
      'openai-chat': 'https://api.venice.ai/api/v1/chat/completions',
      'openai-responses': 'https://api.venice.ai/api/v1/responses',
      'openai-embeddings': 'https://api.venice.ai/api/v1/embeddings',
    },
  },
  // https://vercel.com/docs/ai-gateway/sdks-and-apis
  vercel: {
    website: 'https://vercel.com/docs/ai-gateway/authentication-and-byok/api-keys',
    freeTier: 'https://vercel.com/docs/ai-gateway/pricing',
    urls: {
      'openai-chat': 'https://ai-gateway.vercel.sh/v1/chat/completions',
      'openai-responses': 'https://ai-gateway.vercel.sh/v1/responses',
      'openai-embeddings': 'https://ai-gateway.vercel.sh/v1/embeddings',
      'anthropic-messages': 'https://ai-gateway.vercel.sh/v1/messages',
    },
  },
  vivgrid: {
    website: 'https://console.vivgrid.com',
    more: { 'openai-chat': 'https://api.vivgrid.com/v1/chat/completions' },
  },
  wandb: { website: 'https://wandb.ai/authorize' },
  xiaomi: { ...xiaomi('api.xiaomimimo.com'), website: 'https://platform.xiaomimimo.com' },
  'xiaomi-token-plan-ams': xiaomi('token-plan-ams.xiaomimimo.com'),
  'xiaomi-token-plan-cn': xiaomi('token-plan-cn.xiaomimimo.com'),
  'xiaomi-token-plan-sgp': xiaomi('token-plan-sgp.xiaomimimo.com'),
  'zai-coding-plan': {
    ...glmPlan('https://api.z.ai/api'),
    website: 'https://z.ai/manage-apikey/apikey-list',
  },
  zenmux: {
    website: 'https://zenmux.ai/settings/keys',
    more: {
      'openai-responses': 'https://zenmux.ai/api/v1/responses',
      'anthropic-messages': 'https://zenmux.ai/api/anthropic/v1/messages',
    },
    formatAuth: messagesByKey,
  },
  zhipuai: {
    zeroIsFree: true,
    ...sameAs('zai', 'https://open.bigmodel.cn/api'),
    website: 'https://open.bigmodel.cn/usercenter/apikeys',
    freeTier: 'https://open.bigmodel.cn/pricing',
  },
  'zhipuai-coding-plan': {
    ...glmPlan('https://open.bigmodel.cn/api'),
    website: 'https://open.bigmodel.cn/usercenter/apikeys',
  },
};
