import type { Message } from './conversation.ts';

/** Answers in a row, and all that is said until the next answer: the calls of the former have their results in the latter. */
export interface ToolCallGroup {
  answers: Message[];
  rest: Message[];
}

/** The messages as runs, for formats in which every result is a message of its own. */
export function runsOf(messages: readonly Message[]): ToolCallGroup[] {
  const runs: ToolCallGroup[] = [];
  for (const message of messages) {
    let run = runs.at(-1);
    if (run === undefined || (message.role === 'assistant' && run.rest.length > 0)) {
      run = { answers: [], rest: [] };
      runs.push(run);
    }
    (message.role === 'assistant' ? run.answers : run.rest).push(message);
  }
  return runs;
}
