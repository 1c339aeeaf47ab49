import { Check, type LucideIcon } from 'lucide-react';
import {
  cloneElement,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useId,
  useRef,
  useState,
} from 'react';
import { classNames } from '../layout/class-names.ts';

export interface MenuItem {
  key: string;
  label: ReactNode;
  icon?: LucideIcon;
  /** Whether it is the one in force; absent where there is no choice among them. */
  selected?: boolean;
  danger?: boolean;
  /** Of the text, where it is another than the page's. */
  language?: string;
  onSelect(): void;
}

interface MenuProps {
  /** The button that opens it. */
  trigger: ReactElement<{ popoverTarget?: string; 'aria-haspopup'?: 'menu'; 'aria-expanded'?: boolean }>;
  items: readonly MenuItem[];
  label: string;
}

const GAP = 6;
const EDGE = 8;

/** A button that opens a list of things to do or to choose from: the browser's popover, above everything else. */
export function Menu({ trigger, items, label }: MenuProps) {
  const id = useId();
  const popup = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const close = () => popup.current?.hidePopover();
  return (
    <>
      {cloneElement(trigger, { popoverTarget: id, 'aria-haspopup': 'menu', 'aria-expanded': open })}
      <div
        ref={popup}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        onToggle={(event) => {
          const shown = event.newState === 'open';
          setOpen(shown);
          if (shown && popup.current !== null) place(popup.current);
        }}
        onKeyDown={(event) => onMenuKey(event, popup.current)}
        className="m-0 max-h-[70vh] min-w-44 overflow-y-auto rounded-lg border border-line bg-panel p-1 text-text shadow-lg"
      >
        {open &&
          items.map(({ key, label: text, icon: Icon, selected, danger, language, onSelect }) => (
            // biome-ignore lint/a11y/useAriaPropsSupportedByRole: it is there for the role that has it.
            <button
              key={key}
              type="button"
              role={selected === undefined ? 'menuitem' : 'menuitemradio'}
              aria-checked={selected}
              tabIndex={-1}
              lang={language}
              onClick={() => {
                close();
                onSelect();
              }}
              className={classNames(
                'flex min-h-8 w-full items-center gap-2 rounded-md px-2.5 py-1 text-start hover:bg-sunken focus:bg-sunken',
                danger === true && 'text-bad',
              )}
            >
              {Icon !== undefined && <Icon size={16} aria-hidden />}
              <span className="min-w-0 flex-1 truncate">{text}</span>
              {selected === true && <Check size={15} aria-hidden className="text-accent" />}
            </button>
          ))}
      </div>
    </>
  );
}

/** Below its button, within the window, and the focus on the entry in force or the first. */
function place(popup: HTMLElement): void {
  const button = document.querySelector(`[popovertarget="${CSS.escape(popup.id)}"]`);
  // The entries are drawn once it is open.
  requestAnimationFrame(() => {
    const anchor = button?.getBoundingClientRect();
    if (anchor === undefined) return;
    const { height, width } = popup.getBoundingClientRect();
    const left = Math.max(EDGE, Math.min(anchor.right - width, window.innerWidth - width - EDGE));
    const below = anchor.bottom + GAP;
    const top =
      below + height > window.innerHeight - EDGE ? Math.max(EDGE, anchor.top - height - GAP) : below;
    popup.style.left = `${left}px`;
    popup.style.right = 'auto';
    popup.style.top = `${top}px`;
    entriesOf(popup)
      .toSorted((a, b) => Number(isChecked(b)) - Number(isChecked(a)))[0]
      ?.focus();
  });
}

function entriesOf(popup: HTMLElement): HTMLElement[] {
  return [...popup.querySelectorAll<HTMLElement>('[role^="menuitem"]')];
}

function isChecked(entry: HTMLElement): boolean {
  return entry.getAttribute('aria-checked') === 'true';
}

function onMenuKey(event: KeyboardEvent, popup: HTMLElement | null): void {
  if (popup === null) return;
  const entries = entriesOf(popup);
  const at = entries.indexOf(document.activeElement as HTMLElement);
  const to = (index: number) => {
    event.preventDefault();
    entries.at(index)?.focus();
  };
  if (event.key === 'ArrowDown') to((at + 1) % entries.length);
  else if (event.key === 'ArrowUp') to(at - 1);
  else if (event.key === 'Home') to(0);
  else if (event.key === 'End') to(-1);
  else if (event.key === 'Tab') popup.hidePopover();
  else if (event.key.length === 1) {
    const letter = event.key.toLowerCase();
    const found = [...entries.slice(at + 1), ...entries].find((entry) =>
      entry.textContent?.toLowerCase().startsWith(letter),
    );
    found?.focus();
  }
}
