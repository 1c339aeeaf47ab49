/** Fields of an answer that no upstream provides; each is generated where it is absent. */
export interface AnswerOptions {
  /** The id of the request, letters and digits: ids in the answer are made from it where the upstream has none. */
  id?: string;
  /** When the request began, in milliseconds since the epoch. */
  startedAt?: number;
}
