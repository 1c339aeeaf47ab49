import type { RequestFields } from '../../request-fields.ts';

/** Gemini API, `models.generateContent`. */
export const requestFields: RequestFields = {
  outputCap: ['generationConfig.maxOutputTokens', 'generationConfig.max_output_tokens'],
  answers: ['generationConfig.candidateCount', 'generationConfig.candidate_count'],
  tier: ['serviceTier', 'service_tier'],
  turns: 'contents',
  optional: [
    'serviceTier',
    'generationConfig.thinkingConfig',
    'generationConfig.frequencyPenalty',
    'generationConfig.presencePenalty',
    'generationConfig.seed',
    'generationConfig.topK',
  ],
};
