import { numberOf } from '../../json/lossless.ts';
import { textOf } from '../../json/values.ts';
import type { ResponsesEvent, ResponsesItem } from '../wire.ts';

/** Places of items that have no index of their own; no answer has so many items. */
const FIRST_OWN_PLACE = 1_000_000;

/**
 * Finds the item of a stream that an event belongs to, by its `output_index`. Some servers number no items, or all
 * alike; then the ids decide, and without ids the order. Ids are not enough: some servers give an item another id with
 * every event.
 */
export class ItemPlaces {
  /** Whether the indexes can be believed so far. */
  #isOrderly = true;
  readonly #announced = new Set<number>();
  readonly #finished = new Set<number>();
  readonly #byIndex = new Map<number, number>();
  readonly #byId = new Map<string, number>();
  /** By what names an item in the whole answer. */
  readonly #byName = new Map<string, number>();
  #latest: number | null = null;
  #next = FIRST_OWN_PLACE;

  /** The event `output_item.added` with the place of its item as `output_index`. */
  announced(event: ResponsesEvent, item: ResponsesItem): ResponsesEvent {
    const index = numberOf(event.output_index);
    const place = index === null || this.#announced.has(index) ? this.#ownPlace() : index;
    this.#announced.add(place);
    this.#note(place, index, item);
    return at(event, place);
  }

  /** Any other event between, likewise. */
  about(event: ResponsesEvent): ResponsesEvent {
    const index = numberOf(event.output_index);
    if (this.#isOrderly && index !== null) return event;
    const existing = this.#byId.get(textOf(event.item_id));
    const placed = index === null ? this.#latest : this.#byIndex.get(index);
    return at(event, existing ?? placed ?? index ?? 0);
  }

  /** The event `output_item.done`, likewise; null where the end of this item was sent before. */
  finished(event: ResponsesEvent, item: ResponsesItem): ResponsesEvent | null {
    const itemPlace = this.about({ ...event, item_id: item.id });
    const place = numberOf(itemPlace.output_index) ?? 0;
    if (!this.#finished.has(place)) return this.#end(itemPlace, place, item);
    const name = nameOf(item);
    if (name === '' || this.#byName.get(name) === place) return null;
    return this.#end(event, this.#ownPlace(), item);
  }

  /** The item at `index` of the whole answer at the end; null where its end was sent before. */
  listed(index: number, item: ResponsesItem): ResponsesEvent | null {
    const place = this.#isOrderly ? index : (this.#byName.get(nameOf(item)) ?? this.#unnamed(item));
    return place === null || this.#finished.has(place) ? null : this.#end({}, place, item);
  }

  /** A call that was not sent. Any other item with an unknown name was sent under another one. */
  #unnamed(item: ResponsesItem): number | null {
    return textOf(item.call_id) === '' ? null : this.#ownPlace();
  }

  #end(event: ResponsesEvent, place: number, item: ResponsesItem): ResponsesEvent {
    this.#finished.add(place);
    this.#note(place, numberOf(event.output_index), item);
    return at(event, place);
  }

  #ownPlace(): number {
    this.#isOrderly = false;
    this.#next += 1;
    return this.#next - 1;
  }

  #note(place: number, index: number | null, item: ResponsesItem): void {
    if (index !== null) this.#byIndex.set(index, place);
    const id = textOf(item.id);
    if (id !== '') this.#byId.set(id, place);
    const name = nameOf(item);
    if (name !== '') this.#byName.set(name, place);
    this.#latest = place;
  }
}

function at(event: ResponsesEvent, place: number): ResponsesEvent {
  return event.output_index === place ? event : { ...event, output_index: place };
}

/** What names an item: a call has an id that does not change. */
function nameOf(item: ResponsesItem): string {
  return textOf(item.call_id) || textOf(item.id);
}
