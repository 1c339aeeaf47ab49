/** The first bytes of the image types that every vendor takes, in base64. */
const imageStarts: Readonly<Record<string, string>> = {
  iVBORw0KGgo: 'image/png',
  '/9j/': 'image/jpeg',
  R0lGOD: 'image/gif',
  UklGR: 'image/webp',
};

/** The type that an image's bytes show: vendors refuse one under another's name. Undefined for other types. */
export function imageTypeOf(base64: string): string | undefined {
  const start = Object.keys(imageStarts).find((candidate) => base64.startsWith(candidate));
  return start === undefined ? undefined : imageStarts[start];
}
