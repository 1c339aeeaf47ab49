import { embedWithThought, extractWithThought } from '../encrypted-reasoning/embed.ts';
import type { EncryptedReasoning } from '../model/conversation.ts';

/**
 * The placeholder for the signature of a call that no Gemini model made ("Thought signatures", FAQ on calls from another
 * model). The model then continues without its earlier thoughts.
 */
export const NO_SIGNATURE = 'skip_thought_signature_validator';

/** Texts that say that there is no signature; Gemini CLI writes the first where it has none. */
const placeholders: ReadonlySet<string> = new Set([NO_SIGNATURE, 'context_engineering_is_the_way_to_go']);

/**
 * The encrypted reasoning in a `thoughtSignature`: the vendor's own, or another format's that was embedded there. Null for a
 * placeholder.
 */
export function encryptedReasoningOf(signature: string): EncryptedReasoning | null {
  if (signature === '' || placeholders.has(signature)) return null;
  return (
    extractWithThought(signature)?.encrypted ?? { format: 'gemini', kind: 'signature', value: signature }
  );
}

/** The thought that was embedded with its signature; empty if there is none. */
export function thoughtIn(signature: string): string {
  return extractWithThought(signature)?.thought ?? '';
}

/**
 * The `thoughtSignature` for encrypted reasoning. The field is bytes in base64: Google's Go and Python clients decode it.
 * @param thought what is encrypted. It goes along where its maker takes a signature back only with it (Anthropic), for
 *   clients send no thoughts back (Gemini CLI).
 */
export function signatureOf(encrypted: EncryptedReasoning, thought = ''): string {
  if (encrypted.format === 'gemini') return encrypted.value;
  return embedWithThought(encrypted, encrypted.kind === 'signature' ? thought : '');
}
