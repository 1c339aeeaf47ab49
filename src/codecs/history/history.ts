import type { Dialect } from '../model/dialect.ts';

/** What is taken out of the earlier turns of a request. */
export interface Stripping {
  /** The model's name at the target. */
  model: string;
  /** Whether encrypted reasoning goes, by its text as it stands; '' for a thought without one. */
  strips(text: string): boolean;
}

/** The request without what is stripped; the same buffer when it holds none of that. Every other byte stays as it is. */
export type Strip = (request: Buffer, stripping: Stripping) => Buffer;

/** How the earlier turns of a request in the upstream's own format must look there. */
export interface HistoryRules {
  dialect: Dialect;
  /** Fields of messages that the target has refused before. */
  refused: readonly string[];
}

/** What of the earlier turns in a request of a format other vendors made, and how it looks without that. */
export interface HistoryCodec {
  /** Where encrypted reasoning of other formats is carried: the fields, and how their texts begin, behind the quote. */
  carried: { names: readonly string[]; begins: readonly string[]; strip: Strip };
  /**
   * The error with which a vendor refuses encrypted reasoning. The reasoning is bound to an account, a model family or
   * even the text before it, so a conversation that moved to another of these would fail forever (gateways' survey,
   * 4.1).
   */
  refusals: readonly {
    refused: RegExp;
    /** What is taken out, by the name that clients are shown. */
    name: string;
    strip: Strip;
  }[];
  /** Whether the vendor signs all thoughts, so that one without a signature is another vendor's; absent where none does. */
  signsThoughts?(dialect: Dialect): boolean;
  /** Fields of messages that differ between servers: which are looked for, and the request with the server's own. */
  own?(rules: HistoryRules): {
    names: readonly string[];
    rewrite(request: Buffer): { request: Buffer; dropped: string[] };
  };
}
