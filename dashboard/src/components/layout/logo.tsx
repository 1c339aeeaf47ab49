interface LogoProps {
  /** Width and height in pixels. */
  size: number;
}

/** The picture of `public/icon.svg`, drawn here so that no page asks for a file. */
export function Logo({ size }: LogoProps) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#0f766e" />
      <path
        d="M8 23V10.5a1.5 1.5 0 0 1 2.7-.9L16 16.6l5.3-7a1.5 1.5 0 0 1 2.7.9V23"
        fill="none"
        stroke="#fff"
        strokeWidth="3"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
