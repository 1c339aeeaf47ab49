/** Lines that are written together, so that a request does not wait for the disk or the terminal. */
export interface LineBuffer {
  /** Keeps a line, which ends with a line feed. */
  write(line: string): void;
  /** Writes what is kept. */
  flush(): void;
}

const FLUSH_MS = 100;
const MAX_CHARACTERS = 65_536;

/** @param write gets what was kept, ten times a second at most unless there is much of it */
export function createLineBuffer(write: (lines: string) => void): LineBuffer {
  let partialLine = '';
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (partialLine === '') return;
    const lines = partialLine;
    partialLine = '';
    write(lines);
  };
  return {
    flush,
    write(line) {
      partialLine += line;
      if (partialLine.length >= MAX_CHARACTERS) flush();
      else timer ??= setTimeout(flush, FLUSH_MS);
    },
  };
}
