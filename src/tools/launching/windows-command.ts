import { GatewayError } from '../../lib/error.ts';

/** What to start, and how its arguments are handed over. */
export interface ProcessCommand {
  file: string;
  args: string[];
  /** The arguments are a command line of Windows as it stands, without quotes added. */
  verbatim: boolean;
}

/**
 * How a program of Windows is started. Files of cmd.exe, as npm leaves them, are no programs: cmd.exe runs them, and
 * reads what is handed over twice, once for itself and once for the file's own `%*`.
 * @param comSpec path of cmd.exe
 * @throws GatewayError `invalid_request` for a line end in an argument, which cmd.exe cannot pass on
 */
export function windowsCommand(path: string, args: readonly string[], comSpec: string): ProcessCommand {
  if (!/\.(cmd|bat)$/i.test(path)) return { file: path, args: [...args], verbatim: false };
  if (args.some((arg) => /[\r\n\0]/.test(arg)))
    throw new GatewayError(
      'invalid_request',
      `${path} is started by cmd.exe, which passes on no argument with a line end in it`,
    );
  const line = [escaped(path), ...args.map((arg) => escaped(escaped(quoted(arg))))].join(' ');
  return { file: comSpec, args: ['/d', '/s', '/c', `"${line}"`], verbatim: true };
}

/** In quotes, as Microsoft's C library takes command lines apart: backslashes count only before a quote. */
function quoted(arg: string): string {
  let text = '"';
  let backslashes = 0;
  for (const character of arg) {
    if (character === '\\') {
      backslashes += 1;
      continue;
    }
    text += '\\'.repeat(character === '"' ? backslashes * 2 + 1 : backslashes) + character;
    backslashes = 0;
  }
  return `${text}${'\\'.repeat(backslashes * 2)}"`;
}

/** With a caret before everything that means something to cmd.exe. */
function escaped(text: string): string {
  return text.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&');
}
