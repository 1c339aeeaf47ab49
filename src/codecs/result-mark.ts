/**
 * Stands before the text of a failed call's result in formats that have no field for it (M-09). It is unlike what
 * tools write themselves: only a conversation that was translated to such a format brings it back, and there it is
 * taken for the field again.
 */
export const ERROR_MARK = '[tool error] ';
