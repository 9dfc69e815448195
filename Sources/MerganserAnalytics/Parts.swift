// The parts that a reporter is made of, such as `Transport`, are visible with this module.
@_exported public import MerganserClient
