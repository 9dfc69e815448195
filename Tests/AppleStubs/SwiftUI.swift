// Declarations of Apple's SwiftUI that Examples/GuestbookApp uses, from its documentation.
public import Foundation

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError() }
}

extension View {
    public func task(@_inheritActorContext _ action: @escaping @Sendable () async -> Void) -> some View { self }
    public func onOpenURL(perform action: @escaping (URL) -> Void) -> some View { self }
}

public struct TupleView<Content>: View {
    public var body: Never { fatalError() }
}

public struct ConditionalContent<First: View, Second: View>: View {
    public var body: Never { fatalError() }
}

extension Optional: View where Wrapped: View {
    public var body: Never { fatalError() }
}

public struct EmptyView: View {
    public init() {}

    public var body: Never { fatalError() }
}

@MainActor @resultBuilder public struct ViewBuilder {
    public static func buildBlock() -> EmptyView { fatalError() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        fatalError()
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> ConditionalContent<First, Second> {
        fatalError()
    }
    public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalContent<First, Second> {
        fatalError()
    }
}

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}

@MainActor @preconcurrency public protocol Scene {}

@MainActor public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
}

@MainActor @propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) {}

    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
}

extension State where Value: ExpressibleByNilLiteral {
    public init() {}
}

public struct Binding<Value> {}

@MainActor public struct Text: View {
    public init(_ text: String) {}

    public var body: Never { fatalError() }
}

@MainActor public struct TextField: View {
    public init(_ title: String, text: Binding<String>) {}

    public var body: Never { fatalError() }
}

@MainActor public struct Button: View {
    public init(_ title: String, action: @escaping @MainActor () -> Void) {}

    public var body: Never { fatalError() }
}

@MainActor public struct List<Content: View>: View {
    public init(@ViewBuilder content: () -> Content) {}

    public var body: Never { fatalError() }
}

@MainActor public struct Section<Content: View>: View {
    public init(_ title: String, @ViewBuilder content: () -> Content) {}

    public var body: Never { fatalError() }
}

@MainActor public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View {
    public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content)
    {}

    public var body: Never { fatalError() }
}
