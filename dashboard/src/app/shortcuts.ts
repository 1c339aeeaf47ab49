import { useEffect } from 'react';

/** ⌘K or Ctrl+K, `/` and `?`, wherever nobody is typing. */
export function useShortcuts({ palette, help }: { palette(): void; help(): void }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)) {
        event.preventDefault();
        palette();
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (event.key === '?') help();
      if (event.key === '/') {
        const box = document.querySelector<HTMLInputElement>('[data-filter-box]');
        if (box === null) return;
        event.preventDefault();
        box.focus();
        box.select();
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  );
}
