/* The hostile plugins: X(name, when). `when` says how far a process gets with it:
 *
 *   LOAD     it harms whoever loads it, or brings a bundle that nobody may use: refused, by name
 *   OPEN     it harms whoever opens its device, which `vyre doctor` tells, by name
 *   REFUSE   its device is refused, with a reason
 *   RUN      its device can be opened; runs on it fail with a reason, or are right
 */
#define HOSTILE(X)                                                                                 \
    X(abort_at_load, LOAD)                                                                         \
    X(crash_at_load, LOAD)                                                                         \
    X(divide_at_load, LOAD)                                                                        \
    X(exit_at_load, LOAD)                                                                          \
    X(exit_well_at_load, LOAD)                                                                     \
    X(sleep_at_load, LOAD)                                                                         \
    X(overflow_at_load, LOAD)                                                                      \
    X(signal_at_load, LOAD)                                                                        \
    X(close_all_at_load, LOAD)                                                                     \
    X(abort_in_query, LOAD)                                                                        \
    X(sleep_in_query, LOAD)                                                                        \
    X(exit_in_query, LOAD)                                                                         \
    X(query_gives_garbage, LOAD)                                                                   \
    X(query_gives_nothing, LOAD)                                                                   \
    X(short_bundle, LOAD)                                                                          \
    X(endless_rows, LOAD)                                                                          \
    X(missing_rows, LOAD)                                                                          \
    X(wide_rows, LOAD)                                                                             \
    X(odd_rows, LOAD)                                                                              \
    X(no_id, LOAD)                                                                                 \
    X(wild_id, LOAD)                                                                               \
    X(long_id, LOAD)                                                                               \
    X(escape_in_id, LOAD)                                                                          \
    X(id_of_another, LOAD)                                                                         \
    X(id_auto, LOAD)                                                                               \
    X(no_factory, LOAD)                                                                            \
    X(abort_in_create, OPEN)                                                                       \
    X(crash_in_create, OPEN)                                                                       \
    X(sleep_in_create, OPEN)                                                                       \
    X(exit_in_create, OPEN)                                                                        \
    X(abort_in_count, OPEN)                                                                        \
    X(crash_in_profile, OPEN)                                                                      \
    X(crash_in_destroy, OPEN)                                                                      \
    X(no_table, REFUSE)                                                                            \
    X(no_marker, REFUSE)                                                                           \
    X(short_table, REFUSE)                                                                         \
    X(other_abi, REFUSE)                                                                           \
    X(reserved_words, REFUSE)                                                                      \
    X(no_dispatch, REFUSE)                                                                         \
    X(null_id, REFUSE)                                                                             \
    X(other_id, REFUSE)                                                                            \
    X(null_version, REFUSE)                                                                        \
    X(null_operations, REFUSE)                                                                     \
    X(null_message, REFUSE)                                                                        \
    X(odd_code, REFUSE)                                                                            \
    X(endless_devices, RUN)                                                                        \
    X(id_changes, RUN)                                                                             \
    X(version_vanishes, RUN)                                                                       \
    X(operations_vanish, RUN)                                                                      \
    X(wild_profile, RUN)                                                                           \
    X(no_workgroups, RUN)                                                                          \
    X(all_features, RUN)                                                                           \
    X(larger_outputs, RUN)                                                                         \
    X(smaller_outputs, RUN)                                                                        \
    X(moved_outputs, RUN)                                                                          \
    X(null_message_in_run, RUN)                                                                    \
    X(bad_pipeline, RUN)                                                                           \
    X(odd_artifact, RUN)                                                                           \
    X(bad_pending_run, RUN)                                                                        \
    X(narrow, RUN)
