import { useRouter } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';

interface FilterBoxProps {
  /** As the address has it. */
  value: string;
  onChange(value: string): void;
  label: string;
}

const TYPING_MS = 200;

/** A text to filter by, which `/` leads to. Tells of a change once the typing pauses. */
export function FilterBox({ value, onChange, label }: FilterBoxProps) {
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const told = useRef(value);
  const router = useRouter();
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    if (text === told.current) return;
    const timer = setTimeout(() => {
      const { location, resolvedLocation } = router.state;
      // Another page is on its way, which a change of this one's address would call back.
      if (location.pathname !== resolvedLocation?.pathname) return;
      told.current = text;
      onChange(text);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, onChange, router]);
  return (
    <div className="relative w-full sm:w-72">
      <Search
        size={15}
        aria-hidden
        className="pointer-events-none absolute start-2.5 top-1/2 -translate-y-1/2 text-muted"
      />
      <input
        ref={input}
        type="search"
        data-filter-box
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="min-h-8 w-full rounded-md border border-line bg-panel ps-8 pe-2 text-sm"
      />
    </div>
  );
}
