/** What somebody has in a file of a tool before it meets the gateway. */
export interface UsersFile {
  /** Below the home folder. */
  path: string;
  text: string;
  /** The text with something that its owner, or the tool, put there later. */
  addTo(text: string): string;
}

/** The text of an object with one more member, before the others. */
export const first = (text: string) => text.replace('{', '{ "added": "by its owner",');
