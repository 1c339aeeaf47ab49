import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorNotice } from '../components/layout/error-notice.tsx';

/** A page that failed: the others still work. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  return <ErrorNotice error={error} onRetry={reset} />;
}
