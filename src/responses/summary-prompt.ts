/**
 * What a model is asked when a conversation is compacted without a provider that does it. It comes last, so that the
 * provider's prompt cache still holds everything before it.
 */
export const summaryPrompt = `Write a handover of this conversation. It will take the place of everything above: whoever continues sees only your handover and what is said after it, and must be able to go on without asking again.

Cover, as far as the conversation has it:
1. What the user wants: the goal, and every requirement, preference and limit that was stated, in the user's own words where the wording matters.
2. What was done and found out, in order, with exact names: files and paths, commands, identifiers, values, error messages, links.
3. Decisions that were made and why, and what was tried and did not work.
4. How things stand now: what is finished, what is half done, what was changed and not yet checked.
5. What comes next, most urgent first, and any question that is still open.

Write plain text under short headings. Be complete rather than brief, but leave out greetings and repetition. State only what the conversation shows. Do not continue the work, do not call tools, and do not address the user.`;
