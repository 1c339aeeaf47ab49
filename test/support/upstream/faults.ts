import type { FaultKind } from '../../../src/providers/fault.ts';

/** An answer that fails, of one provider, and what it is to be taken for. */
export interface FaultExample {
  provider: string;
  status: number;
  /** Its type or code, and its message. */
  type: string;
  message: string;
  kind: FaultKind;
  headers?: Readonly<Record<string, string>>;
}

const of =
  (provider: string) =>
  (status: number, type: string, message: string, kind: FaultKind, headers = {}): FaultExample => ({
    provider,
    status,
    type,
    message,
    kind,
    headers,
  });

const any = of('openai-compatible');

/** One or more answers for every row of the table, usual and of each provider; a test holds that none is left out. */
export const faultExamples: readonly FaultExample[] = [
  any(400, 'invalid_request_error', 'temperature must be a number', 'request'),
  any(400, 'invalid_model', 'Invalid model: m-1', 'model'),
  any(403, 'NOT_ENOUGH_BALANCE', 'not enough balance', 'billing'),
  any(403, '30001', 'Sorry, your account balance is insufficient', 'billing'),
  any(429, '1308', 'Usage limit reached for 5 hour. Your limit will reset at 2026-11-24', 'quota'),
  any(401, 'invalid_api_key', 'Incorrect API key provided', 'credential'),
  any(402, 'payment_required', 'Pay first', 'billing'),
  any(403, 'forbidden', 'Your account has insufficient balance', 'billing'),
  any(403, 'permission_denied', 'The API key was revoked', 'credential'),
  any(403, 'content_filter', 'The input was flagged by moderation', 'request'),
  any(403, 'permission_denied', 'You may not use fine-tuned things', 'permission'),
  any(404, 'not_found', 'Response with id resp_1 not found', 'request'),
  any(404, 'model_not_found', 'The model m-1 does not exist', 'model'),
  any(410, 'gone', 'This model was retired', 'model'),
  any(404, 'not_found', 'No such route', 'path'),
  any(405, 'method_not_allowed', 'POST is not served', 'path'),
  any(408, 'timeout', 'Took too long', 'timeout'),
  any(409, 'conflict', 'Another request holds the lock', 'busy'),
  any(413, 'request_too_large', 'Too many bytes', 'request'),
  any(422, 'unprocessable', 'That cannot be', 'request'),
  any(425, 'too_early', 'Warming up', 'busy'),
  any(429, 'insufficient_quota', 'You exceeded your current quota', 'billing'),
  any(429, 'engine_overloaded', 'We are overloaded', 'overloaded'),
  any(429, 'rate_limit_exceeded', 'Slow down', 'rate-limit'),
  any(429, 'rate_limit_exceeded', 'Slow down', 'rate-limit', { 'retry-after': '20' }),
  any(500, 'server_error', 'Oh no', 'server'),
  any(502, 'bad_gateway', 'Nobody there', 'server'),
  any(503, 'service_unavailable', 'Too many', 'overloaded'),
  any(504, 'timeout', 'Took too long', 'timeout'),
  any(520, 'unknown', 'The origin said something odd', 'overloaded'),
  any(524, 'timeout', 'The origin took too long', 'timeout'),
  any(529, 'overloaded_error', 'Overloaded', 'overloaded'),
  of('openai')(429, 'insufficient_quota', 'You exceeded your current quota', 'billing'),
  of('openai')(403, 'account_deactivated', 'This account is gone', 'credential'),
  of('openai')(429, 'rate_limit_exceeded', 'Please try again in 20s', 'rate-limit'),
  of('fireworks')(412, 'PRECONDITION_FAILED', 'Account x is suspended', 'billing'),
  of('nvidia')(404, 'Not Found', "Function 'x': Not found for account 'y'", 'model'),
  of('qwen')(
    400,
    'Arrearage',
    'Access denied, please make sure your account is in good standing.',
    'billing',
  ),
  of('azure-openai')(404, 'DeploymentNotFound', 'The API deployment does not exist', 'model'),
  of('anthropic')(400, 'invalid_request_error', 'Your credit balance is too low to access', 'billing'),
  of('anthropic')(403, 'permission_error', 'This organization has been disabled', 'credential'),
  of('anthropic')(429, 'rate_limit_error', 'This would exceed your account’s limit', 'quota', {
    'anthropic-ratelimit-unified-5h-status': 'rejected',
    'anthropic-ratelimit-unified-5h-reset': '4102444800',
  }),
  of('deepseek')(402, 'unknown_error', 'Insufficient Balance', 'billing'),
  of('xai')(400, 'invalid_argument', 'Incorrect API key provided: xa***', 'credential'),
  of('xai')(403, 'permission_denied', 'Your team has used all available credits', 'billing'),
  of('xai')(403, 'permission_denied', 'The API key is blocked', 'credential'),
  of('openrouter')(402, '402', 'Insufficient credits', 'billing'),
  of('openrouter')(403, '403', 'Your input was flagged: moderation', 'request'),
  of('openrouter')(400, '400', 'm-1 is not a valid model ID', 'model'),
  of('openrouter')(403, '403', 'Key limit exceeded (monthly limit)', 'billing'),
  of('openrouter')(502, '502', 'No providers for it answered', 'overloaded'),
  of('openrouter')(429, '429', 'Rate limit exceeded: free-models-per-day', 'quota'),
  of('gemini')(429, 'RESOURCE_EXHAUSTED', 'GenerateRequestsPerDayPerProjectPerModel', 'quota'),
  of('responses-compatible')(503, 'service_unavailable', 'Too many', 'overloaded'),
  of('anthropic-compatible')(529, 'overloaded_error', 'Overloaded', 'overloaded'),
  of('gemini-compatible')(503, 'UNAVAILABLE', 'The model is overloaded', 'overloaded'),
  of('ollama-compatible')(404, 'not_found', 'model "m-1" not found, try pulling it first', 'model'),
];
