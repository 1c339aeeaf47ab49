/** A JSON object, as the management API answers. */
export type ApiBody = Record<string, unknown>;

/** The management API, as one person may use it: over HTTP, or within the process of the gateway. */
export interface Api {
  /** Whether the person may do this at all: a permission of the API. What they may not do is not offered. */
  can(permission: string): boolean;
  /** @param path below `/api`, e.g. `/keys` @throws GatewayError or ApiError with what the API says */
  get(path: string, params?: URLSearchParams): Promise<ApiBody>;
  /** @throws GatewayError or ApiError with what the API says */
  post(path: string, body: ApiBody): Promise<ApiBody>;
  /** The events that are published from now on, until there are `limit`, or for `ms` milliseconds. @throws as `get` does */
  watchEvents(watch: { cesql: string | null; limit: number; ms: number }): Promise<unknown[]>;
}

/** Whether a permission lets one look and change nothing. */
export function onlyReads(permission: string): boolean {
  return permission.endsWith(':read') || permission.endsWith(':inspect');
}

/** What a gateway in another process refused: its own word for it, and its sentence. */
export class ApiError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface PageQuery {
  /** Conditions as the API takes them: `outcome='failed'`. */
  filters?: readonly string[];
  /** What is shown of each member. */
  attributes?: readonly string[];
  sortBy?: string;
  descending?: boolean;
  limit: number;
}

export interface Page {
  /** How many fit, of which `rows` are the first. */
  total: number;
  rows: ApiBody[];
}

/** Members of a collection, without the API's links. */
export async function pageOf(api: Api, path: string, query: PageQuery): Promise<Page> {
  const { attributes, descending = false, filters = [], limit, sortBy } = query;
  const params = new URLSearchParams({ expand: 'resources', limit: String(limit) });
  for (const filter of filters) params.append('filter[]', filter);
  if (attributes !== undefined) params.set('attributes', attributes.join(','));
  if (sortBy !== undefined) params.set('sort_by', sortBy);
  if (descending) params.set('sort_order', 'desc');
  const { count, resources, subquery_count: filtered } = await api.get(path, params);
  const rows = Array.isArray(resources) ? (resources as ApiBody[]) : [];
  return { total: Number(filtered ?? count ?? rows.length), rows: rows.map(withoutLinks) };
}

/** A row as the assistant sees it: it follows no links. */
export function withoutLinks({ href: _href, actions: _actions, ...row }: ApiBody): ApiBody {
  return row;
}

/** Text as a filter takes it: `'it''s'`. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
