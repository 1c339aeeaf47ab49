/** A member of an indexed set. `slot` belongs to the set; it is -1 outside of one. */
export interface IndexedMember {
  slot: number;
}

/** A set whose members come and go by the thousand in a second. It keeps no order. */
export interface IndexedSet<Member extends IndexedMember> {
  readonly size: number;
  /** Does nothing for a member that is in already. */
  add(member: Member): void;
  /** Does nothing for a member that is not in. */
  remove(member: Member): void;
  /** The members of this moment; later changes do not disturb a walk through them. */
  members(): Member[];
}

/**
 * An array whose members know their place. A Set would read better, but V8 links every outgrown table of a Set or
 * Map to the next one; once a first table is old, all that ever stood in a later one lives on until the next full
 * collection. At 7,000 requests a second that is a third of the CPU time.
 */
export function createIndexedSet<Member extends IndexedMember>(): IndexedSet<Member> {
  const present: Member[] = [];
  return {
    get size() {
      return present.length;
    },
    add(member) {
      if (present[member.slot] === member) return;
      member.slot = present.length;
      present.push(member);
    },
    remove(member) {
      if (present[member.slot] !== member) return;
      const last = present.pop();
      if (last !== undefined && last !== member) {
        present[member.slot] = last;
        last.slot = member.slot;
      }
      member.slot = -1;
    },
    members: () => [...present],
  };
}
