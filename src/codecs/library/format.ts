/** The names of the wire formats. */
export type FormatName =
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-completions'
  | 'anthropic-messages'
  | 'gemini'
  | 'ollama';

/** What the codec of a format and its public value have in common. */
export interface Named {
  readonly format: FormatName;
}

declare const opaque: unique symbol;

/**
 * A wire format, as the functions of this library take it. Everything in it except its name is internal. A bundler
 * leaves out the formats that a program does not import.
 */
export interface Format<Name extends FormatName = FormatName> {
  readonly format: Name;
  readonly [opaque]: never;
}
