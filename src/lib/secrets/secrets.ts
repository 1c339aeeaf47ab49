/** What stands in a text where a secret was. */
export const REDACTED = '[redacted]';

/** Characters. Vendors' keys have 20 and more. */
const LEAST_SECRET = 8;
const IN_WORD = /[\p{L}\p{N}_-]/u;

/**
 * A text without these secrets, also as JSON and URLs spell them. One that is too short to be a secret, as the `x` that
 * local servers are content with, goes only where it is a word of its own: messages must stay readable.
 * @param mask what a secret is replaced with
 */
export function withoutSecrets(
  text: string,
  secrets: readonly string[],
  mask: (secret: string) => string = () => REDACTED,
): string {
  return secrets
    .filter((secret) => secret !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce(
      (clean, secret) =>
        spellingsOf(secret).reduce((clean, spelling) => without(clean, spelling, mask(secret)), clean),
      text,
    );
}

function spellingsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const spellings = [secret, json, json.replaceAll('/', '\\/'), encodeURIComponent(secret.toWellFormed())];
  return [...new Set(spellings)];
}

function without(text: string, spelling: string, mask: string): string {
  if (!text.includes(spelling)) return text;
  return spelling.length < LEAST_SECRET ? withoutWord(text, spelling, mask) : text.split(spelling).join(mask);
}

function withoutWord(text: string, word: string, mask: string): string {
  const pieces = text.split(word);
  return pieces.reduce((clean, piece, index) => {
    const before = pieces[index - 1]?.at(-1) ?? '';
    const isOwn = !IN_WORD.test(before) && !IN_WORD.test(piece.at(0) ?? '');
    return `${clean}${isOwn ? mask : word}${piece}`;
  });
}

/** Keys as vendors write them, tokens of this gateway, and credentials in a header. */
const secretForms: readonly RegExp[] = [
  /\b(?:(?:sk|pk|rk|gsk|xai|r8|hf|gh[opsu]|glpat|xox[bp])[-_]|AIza)[A-Za-z0-9_-]{12,}/g,
  /\bgw[sa]_[A-Za-z0-9_-]{20,}/g,
  /\b(?:Bearer|Basic)\s+[A-Za-z0-9+/=._~-]{8,}/gi,
];
const urlCredentials = /(:\/\/)[^/\s@]+(?=@)/g;

/** A text without what looks like a secret, whoever it belongs to. */
export function withoutSecretForms(text: string): string {
  const clean = secretForms.reduce((clean, form) => clean.replace(form, REDACTED), text);
  return clean.replace(urlCredentials, `$1${REDACTED}`);
}

/** Whether the whole text looks like a secret. */
export function hasSecretForm(text: string): boolean {
  return withoutSecretForms(text) === REDACTED;
}

const secretName = /key|token|password|passphrase|secret|credential|authorization|cookie/i;
/** What is told about a secret is none. */
const harmlessName = /_(?:ids?|at|on|hints?|counts?)$/i;

/** Whether a field of this gateway's own records and inputs has the name of a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name) && !harmlessName.test(name);
}
