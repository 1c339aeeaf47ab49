import type { Provider } from './provider.ts';

/**
 * https://help.aliyun.com/en/model-studio/use-qwen-by-calling-api (chat, responses, messages).
 * International region (Singapore); keys are bound to a region, other regions and workspaces have their own base URL.
 */
export const qwen: Provider = {
  id: 'qwen',
  name: 'Alibaba Model Studio (Qwen)',
  category: 'api-key',
  website: 'https://modelstudio.console.alibabacloud.com',
  documentation: 'https://help.aliyun.com/en/model-studio/use-qwen-by-calling-api',
  baseUrl: 'https://dashscope-intl.aliyuncs.com',
  auth: { kind: 'bearer' },
  formats: {
    'openai-chat': '/compatible-mode/v1/chat/completions',
    'openai-responses': '/compatible-mode/v1/responses',
    'openai-embeddings': '/compatible-mode/v1/embeddings',
    'anthropic-messages': '/apps/anthropic/v1/messages',
  },
  // https://www.alibabacloud.com/help/en/model-studio/partial-mode
  dialect: {
    reasoningField: 'reasoning_content',
    reasoningEffort: false,
    prefill: { message: { partial: true } },
  },
  keepsResponses: true,
  // https://www.alibabacloud.com/help/en/model-studio/error-code: an overdue payment is said with 400.
  faults: [{ statuses: [400, 403], pattern: /\bArrearage\b/i, kind: 'billing' }],
  modelsPath: '/compatible-mode/v1/models',
  forwardHeaders: 'standard',
  keyVariables: ['DASHSCOPE_API_KEY', 'QWEN_API_KEY'],
  modelsDev: 'alibaba',
  prices: null,
  unpriced: 'unknown',
  suggestedModel: 'qwen3.7-plus',
};
