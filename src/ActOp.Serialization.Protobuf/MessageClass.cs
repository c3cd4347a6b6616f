using System.Reflection;
using System.Runtime.CompilerServices;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Orleans.Serialization;

namespace ActOp.Serialization.Protobuf;

/// <summary>How messages of one class are made: read, cloned, and what fields they have. Any thread; lives as long as the class.</summary>
internal sealed class MessageClass
{
    private static readonly ConditionalWeakTable<Type, MessageClass> Classes = new();

    private readonly Type _type;
    private readonly MessageParser? _parser;
    private readonly Func<object, object>? _clone;

    private MessageClass(Type type)
    {
        _type = type;
        _parser = Static(type, "Parser") as MessageParser;
        Descriptor = Static(type, "Descriptor") as MessageDescriptor ?? (_parser is null ? New().Descriptor : null);
        if (typeof(IDeepCloneable<>).MakeGenericType(type).IsAssignableFrom(type))
        {
            _clone = typeof(MessageClass).GetMethod(nameof(CloneAs), BindingFlags.NonPublic | BindingFlags.Static)!
                .MakeGenericMethod(type).CreateDelegate<Func<object, object>>();
        }
    }

    /// <summary>The fields; null if the class does not say them.</summary>
    public MessageDescriptor? Descriptor { get; }

    public static MessageClass ClassOf(Type type) => Classes.GetValue(type, static t => new MessageClass(t));

    /// <exception cref="SerializerException">The bytes are no such message, or it is nested too deep.</exception>
    public IMessage Parse(byte[] bytes)
    {
        try
        {
            if (_parser is not null)
                return _parser.ParseFrom(bytes);
            var message = New();
            message.MergeFrom(bytes);
            return message;
        }
        catch (InvalidProtocolBufferException e)
        {
            throw new SerializerException($"The {bytes.Length} bytes are no message {_type}: {e.Message}", e);
        }
    }

    public object Clone(object message) => _clone is not null ? _clone(message) : Parse(((IMessage)message).ToByteArray());

    private static object CloneAs<T>(object message) => ((IDeepCloneable<T>)message).Clone()!;

    private static object? Static(Type type, string property) =>
        type.GetProperty(property, BindingFlags.Public | BindingFlags.Static)?.GetValue(null);

    private IMessage New() => _type.GetConstructor(Type.EmptyTypes) is not null
        ? (IMessage)Activator.CreateInstance(_type)!
        : throw new SerializerException(
            $"The message {_type} cannot be made: it has neither a static property Parser nor a constructor without parameters.");
}
