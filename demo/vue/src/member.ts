import { ref } from 'vue';

/** The name of the member who has joined the club. */
export const member = ref<string>();
