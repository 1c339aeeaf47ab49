/** All marks of the prompt cache, wherever they are. */
export const CACHE_CONTROL = 'cache_control';

/**
 * The fields that the gateway reads from every request, also where nothing is translated. Paths go
 * at most one level down; what is looked for in bytes goes by the last name of a path.
 */
export interface RequestFields {
  /** How many tokens an answer may have. */
  outputCap?: readonly string[];
  /** How many answers are requested, each with the full token limit; of several fields the largest counts. */
  answers?: readonly string[];
  /** A list of prompts, each of which is answered by itself. */
  prompts?: string;
  /** The service tier; of several the first that names one counts. */
  tier?: readonly string[];
  /** Where the turns of the conversation stand. */
  turns?: string;
  /**
   * Fields that only tune an answer. Servers and models that lack one of these refuse the whole request, each with its
   * own message, and no list of their fields is ever complete; so the request is sent again without it. `messages.`
   * stands for every message, and every call in it, and `cache_control` for all marks of the prompt cache.
   */
  optional?: readonly string[];
}
