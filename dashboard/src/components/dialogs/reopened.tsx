import { Fragment, type ReactNode, useState } from 'react';

interface ReopenedProps<Row> {
  row: Row;
  /** The form. `reopen` begins it again with another state of the row. */
  children(row: Row, reopen: (row: Row) => void): ReactNode;
}

/** Keeps a form with the row as it was when the form was opened, whatever the page behind it loads meanwhile. */
export function Reopened<Row>({ row, children }: ReopenedProps<Row>) {
  const [opened, setOpened] = useState({ row, times: 0 });
  return (
    <Fragment key={opened.times}>
      {children(opened.row, (next) => setOpened({ row: next, times: opened.times + 1 }))}
    </Fragment>
  );
}
