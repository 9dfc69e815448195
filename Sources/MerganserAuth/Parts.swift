// The parts that a session is made of, such as `Transport`, are visible with this module.
@_exported public import MerganserClient
