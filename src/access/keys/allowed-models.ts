/** A model at a connection: what an upstream is asked to run. */
export interface RunnableModel {
  connection: string;
  provider: string;
  /** The upstream's id. */
  model: string;
}

/**
 * Whether a list of allowed models covers what an upstream would run. An entry with a slash is compared with
 * `connection/model` and `provider/model`, one without a slash with the model's id at any connection; `*` at the end
 * stands for any text. Nothing that a client wrote is looked at: a name only leads to a model.
 */
export function allowsModel(
  allowed: readonly string[],
  { connection, model, provider }: RunnableModel,
): boolean {
  const fits = hasDots(model) ? isSame : matches;
  return allowed.some((entry) =>
    entry.includes('/')
      ? fits(entry, `${connection}/${model}`) || fits(entry, `${provider}/${model}`)
      : fits(entry, model),
  );
}

/** Whether a list of allowed models names a combo or an alias. Patterns stand for models alone. */
export function allowsName(allowed: readonly string[], name: string): boolean {
  return !name.includes('*') && allowed.includes(name);
}

/** `m/../other` begins like `m/`, and is another model to a server that resolves it as a path. */
function hasDots(model: string): boolean {
  return model.includes('.') && model.split('/').some((segment) => segment === '.' || segment === '..');
}

function isSame(entry: string, id: string): boolean {
  return entry === id;
}

function matches(entry: string, id: string): boolean {
  return entry.endsWith('*') ? id.startsWith(entry.slice(0, -1)) : id === entry;
}
