/** Some of the fields of a value, at every depth. Functions are whole: they have the signature of the real ones. */
export type Stub<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends object
    ? { [Name in keyof T]?: Stub<T[Name]> }
    : T;

/**
 * A stand-in that has only the fields that a test needs. Unlike a cast, it is refused by the compiler when it names a
 * field that the type does not have (any more), or gives it another type.
 */
export function stub<T extends object>(fields: Stub<NoInfer<T>>): T;
export function stub(fields: object): object {
  return fields;
}
