/** The names of the wire formats. */
export type FormatName =
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-completions'
  | 'anthropic-messages'
  | 'gemini'
  | 'ollama';

/** All that is known of a format outside this library. */
export interface Named {
  readonly format: FormatName;
}

declare const opaque: unique symbol;

/**
 * A wire format, as the functions of this library take it. What is in it beside its name is the library's own. A bundler
 * leaves out the formats that a program does not name.
 */
export interface Format<Name extends FormatName = FormatName> extends Named {
  readonly format: Name;
  readonly [opaque]: never;
}
