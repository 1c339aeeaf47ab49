import { type Attributes, attributesOf, valueAt } from '../../http/collection/attributes.ts';
import type { Caller, Outcome, Row } from '../../http/resource.ts';
import type { CollectionRequest } from './collection.ts';

type View = Pick<CollectionRequest, 'resource' | 'caller' | 'prefix'>;

interface ActionHref {
  name: string;
  method: string;
  href: string;
}

/** The attributes that a caller may see, filter and sort by: not those which need a permission that the caller lacks. */
export function visibleAttributes({ caller, resource }: View): Attributes {
  const hidden = Object.entries(resource.guarded ?? {}).filter(([, permission]) => !caller.can(permission));
  return attributesOf(resource.record, new Set(hidden.map(([name]) => name)));
}

/** The path of a collection, or of one member. */
export function hrefOf({ prefix, resource }: View, id?: string): string {
  const path = `${prefix}/${resource.name}`;
  return id === undefined ? path : `${path}/${encodeURIComponent(id)}`;
}

/**
 * A member as the caller sees it: what its record declares and nothing else, so that no member of a row gets out by
 * mistake. A caller who may only write sees where it is.
 * @param only the attributes that were asked for; null for all, and what can be done
 */
export function shownRow(
  view: View,
  row: Row,
  attributes: Attributes,
  only: readonly string[] | null,
): Record<string, unknown> {
  const shown: Record<string, unknown> = { href: hrefOf(view, row.id), id: row.id };
  if (!view.caller.can(view.resource.read)) return shown;
  const names = only ?? [...attributes.keys()].filter((name) => !name.includes('.'));
  for (const name of names) {
    const value = valueAt(row, name);
    if (value !== undefined && name !== 'id' && attributes.has(name)) put(shown, name, value);
  }
  if (only !== null && !only.includes('actions')) return shown;
  const actions = actionsOf(view, row);
  if (actions.length > 0 || only !== null) shown['actions'] = actions;
  return shown;
}

/** Sets `a` or `a.b`, next to what is there of `a`. */
function put(shown: Record<string, unknown>, name: string, value: unknown): void {
  const [outer = '', inner] = name.split('.');
  if (inner === undefined) shown[outer] = value;
  else if (!Object.hasOwn(shown, outer)) shown[outer] = { [inner]: value };
  else shown[outer] = { ...(shown[outer] as object), [inner]: value };
}

/** What the caller may do to a member now. */
function actionsOf(view: View, row: Row): ActionHref[] {
  const { actions = {}, remove, update } = view.resource;
  const href = hrefOf(view, row.id);
  return [
    ...offered(view.caller, update?.permission, 'edit', ['post', 'put', 'patch'], href),
    ...(remove?.possible?.(row) === false
      ? []
      : offered(view.caller, remove?.permission, 'delete', ['post', 'delete'], href)),
    ...Object.entries(actions)
      .filter(([, { possible }]) => possible === undefined || possible(row))
      .flatMap(([name, { permission }]) => offered(view.caller, permission, name, ['post'], href)),
  ];
}

/** What the caller may do to the collection: make members, and change several at once. */
export function collectionActions(view: View): ActionHref[] {
  const { actions = {}, create, remove, update } = view.resource;
  const href = hrefOf(view);
  const rows = [
    ['create', view.caller.narrowed(view.resource.name) ? undefined : create?.permission],
    ['edit', update?.permission],
    ['delete', remove?.permission],
    ...Object.entries(actions).map(([name, { permission }]) => [name, permission] as const),
  ] as const;
  return rows.flatMap(([name, permission]) => offered(view.caller, permission, name, ['post'], href));
}

function offered(
  caller: Caller,
  permission: string | undefined,
  name: string,
  methods: readonly string[],
  href: string,
): ActionHref[] {
  if (permission === undefined || !caller.can(permission)) return [];
  return methods.map((method) => ({ name, method, href }));
}

/** What an action came to, as it is answered. */
export function visibleOutcome(view: View, id: string, outcome: Outcome): Record<string, unknown> {
  const { message, result, success, taskId } = outcome;
  return {
    success,
    message,
    href: hrefOf(view, id),
    ...(taskId === undefined
      ? {}
      : { task_id: taskId, task_href: `${view.prefix}/tasks/${encodeURIComponent(taskId)}` }),
    ...(result === undefined ? {} : { result }),
  };
}

/** The id of its member that a caller's reference names, `{id}` or `{href}`; null for none. The host of an href does not count. */
export function idOf(view: View, reference: Readonly<Record<string, unknown>>): string | null {
  const { href, id } = reference;
  if (typeof id === 'string') return id;
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id);
  if (typeof href !== 'string' || href.length > 2_000) return null;
  const path = URL.parse(href, 'http://gateway')?.pathname ?? '';
  const [collection, member, ...deeper] = path.replace(/^\/api\/(?:v\d[\d.]*\/)?/, '').split('/');
  if (collection !== view.resource.name || member === undefined || member === '' || deeper.length > 0)
    return null;
  try {
    return decodeURIComponent(member);
  } catch {
    return null;
  }
}
