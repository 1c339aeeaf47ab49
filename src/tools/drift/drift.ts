/** The part of a tool's state that shows what has drifted. */
interface Drift {
  /** Entries that no longer are what the gateway wrote there. */
  drifted: readonly string[];
  /** The model that the tool is set to; null when it has none. */
  model: string | null;
}

/** The command that points a tool at the gateway again; null when nothing has drifted. */
export function mendingCommand(id: string, { drifted, model }: Drift): string | null {
  if (drifted.length === 0) return null;
  // A name that a shell would read otherwise is left out: the user adds it.
  const modelFlag = model !== null && /^[\w./:@+-]+$/.test(model) ? ` --model ${model}` : '';
  return `gateway tools configure ${id}${modelFlag}`;
}

/** What has drifted and how to mend it, in one sentence; null when nothing has. */
export function driftText(id: string, drift: Drift): string | null {
  const command = mendingCommand(id, drift);
  return command === null ? null : `${drift.drifted.join(', ')} changed since: run \`${command}\``;
}
