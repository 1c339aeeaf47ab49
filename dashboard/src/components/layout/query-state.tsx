import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';
import { Skeleton } from './skeleton.tsx';

interface QueryStateProps<Data> {
  query: UseQueryResult<Data>;
  /** Lines of the skeleton, in the shape of what comes. */
  lines?: number;
  height?: number;
  children(data: Data): ReactNode;
}

/** What a query came to: a skeleton, an error with another try, or the data, with a failed refresh above it. */
export function QueryState<Data>({ query, lines = 4, height, children }: QueryStateProps<Data>) {
  const retry = () => void query.refetch();
  if (query.data !== undefined)
    return (
      <>
        {query.isRefetchError && (
          <div className="p-3">
            <ErrorNotice error={query.error} onRetry={retry} />
          </div>
        )}
        {children(query.data)}
      </>
    );
  if (query.isError)
    return (
      <div className="p-3">
        <ErrorNotice error={query.error} onRetry={retry} />
      </div>
    );
  return <Skeleton lines={lines} {...(height === undefined ? {} : { height })} />;
}
