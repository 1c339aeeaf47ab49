const BOUNDARY = 'simple boundary';

/** The header that goes with `formText`. */
export const formType = { 'content-type': `multipart/form-data; boundary="${BOUNDARY}"` };

/** A field, as a part of `formText`. */
export function fieldText(name: string, value: string): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

/** A form with a model, if there is to be one, and a file. `more` stands between them. */
export function formText(model: string | null, file: string, more = ''): string {
  return `${model === null ? '' : fieldText('model', model)}${more}${formEnds.before}${file}${formEnds.after}`;
}

/** What stands around a file that is the last part of a form. */
export const formEnds = {
  before: `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n`,
  after: `\r\n--${BOUNDARY}--\r\n`,
};
