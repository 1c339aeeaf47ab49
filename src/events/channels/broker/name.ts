import { createHash } from 'node:crypto';

const longest = 48;

/**
 * A name that every message queue takes, letters, digits, dashes and underscores, for one that may hold anything. Different
 * names stay different, and what is such a name already stays as it is.
 */
export function brokerName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_');
  if (plain === name && name.length <= longest) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 12);
  return `${plain.slice(0, longest - 13)}_${digest}`;
}
