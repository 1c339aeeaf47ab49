/** What the management API answered instead, or that it did not answer. */
export class ApiError extends Error {
  /** HTTP status; 0 where nothing came. */
  readonly status: number;
  /** The gateway's word for the failure (docs/errors.md); `unreachable` where nothing came. */
  readonly code: string;
  /** The field at fault, where there is one. */
  readonly param: string | null;
  readonly requestId: string | null;
  /** Seconds to wait; null where nothing was said. */
  readonly retryAfter: number | null;

  constructor(
    message: string,
    facts: {
      status: number;
      code: string;
      param?: string | null;
      requestId?: string | null;
      retryAfter?: number | null;
    },
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = facts.status;
    this.code = facts.code;
    this.param = facts.param ?? null;
    this.requestId = facts.requestId ?? null;
    this.retryAfter = facts.retryAfter ?? null;
  }
}

/** An answer that is not 2xx as an error. Bodies that are no problem of the API (a proxy's page) keep their status. */
export async function errorOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  const problem = Object(body) as Record<string, unknown>;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError(text(problem['detail']) ?? `HTTP ${response.status}`, {
    status: response.status,
    code: text(problem['code']) ?? `http_${response.status}`,
    param: text(problem['param']),
    requestId: text(problem['request_id']) ?? response.headers.get('x-request-id'),
    retryAfter: Number.isFinite(seconds) ? seconds : null,
  });
}
