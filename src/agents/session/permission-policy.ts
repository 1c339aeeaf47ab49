import type { PermissionRequest } from '../protocol/schema.ts';
import type { ToolKind } from '../schema.ts';

/** The answer to `session/request_permission`, and what it was about. */
export interface PermissionAnswer {
  outcome: { outcome: 'selected'; optionId: string } | { outcome: 'cancelled' };
  allowed: boolean;
  kind: ToolKind;
}

/**
 * Decides what an agent asks for. Everything is refused that the owner has not allowed by kind, and what is allowed is
 * allowed this once: an agent that offers only "always" is refused, since the gateway cannot tell what that includes.
 * @param knownKind the kind that the tool call had when it was announced; null where it was not
 */
export function decidePermission(
  { options, toolCall }: PermissionRequest,
  allowed: readonly ToolKind[],
  knownKind: ToolKind | null,
): PermissionAnswer {
  const kind = toolCall.kind ?? knownKind ?? 'other';
  const once = options.find((option) => option.kind === 'allow_once');
  if (allowed.includes(kind) && once !== undefined)
    return { outcome: { outcome: 'selected', optionId: once.optionId }, allowed: true, kind };
  const refusal =
    options.find((option) => option.kind === 'reject_once') ??
    options.find((option) => option.kind === 'reject_always');
  if (refusal === undefined) return { outcome: { outcome: 'cancelled' }, allowed: false, kind };
  return { outcome: { outcome: 'selected', optionId: refusal.optionId }, allowed: false, kind };
}
