/**
 * Stands before the text of a failed call's result, for the format has no field for it (M-09). It is unlike what
 * tools write themselves: only a conversation that was translated to chat brings it back, and there it is taken
 * for the field again.
 */
export const ERROR_MARK = '[tool error] ';
