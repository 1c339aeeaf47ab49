/**
 * Copies text. Browsers have the clipboard on https and localhost alone; over plain HTTP on a LAN the older command
 * does it. @returns whether it was copied
 */
export async function copyText(text: string): Promise<boolean> {
  if (window.isSecureContext && navigator.clipboard !== undefined) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Refused by the browser: the older way may still do.
    }
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  area.style.position = 'fixed';
  area.style.opacity = '0';
  // Within an open dialog, which keeps the focus to itself.
  const host = document.activeElement?.closest('dialog') ?? document.body;
  host.append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
  }
}
