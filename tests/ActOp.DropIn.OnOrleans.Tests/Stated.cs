using Orleans.Serialization;

namespace ActOp.DropIn.OnOrleans.Tests;

/// <summary>What differs between the runtimes, and how it is on this one. Each entry says where the difference is described.</summary>
internal static class Stated
{
    /// <summary>The name of this runtime, for messages of tests.</summary>
    internal const string Runtime = "Orleans";

    /// <summary>docs/migrating-from-orleans.md: an exception of a class without generated code keeps its type on ActOp.</summary>
    internal static Type ExceptionWithoutCode => typeof(CodecNotFoundException);

    internal static string MessageWithoutCode(string message, string type) => $"Could not find a codec for type {type}.";

    /// <summary>docs/migrating-from-orleans.md: texts of exceptions that the runtime makes are its own.</summary>
    internal static string TimeoutText(TimeSpan timeout) => "Response did not arrive on time in " + timeout + " for message: ";

    /// <summary>docs/migrating-from-orleans.md: the token of a call that was made without one.</summary>
    internal const bool DefaultTokenCanBeCancelled = true;

    /// <summary>docs/migrating-from-orleans.md: the hash of the id "type/key"; each runtime has a function of its own.</summary>
    internal const uint HashOfTypeAndKey = 831806783;

    /// <summary>docs/migrating-from-orleans.md: how the grain type of a generic class names a type of the framework.</summary>
    internal const string NameOfString = "string";

    /// <summary>docs/migrating-from-orleans.md: whether filters see the client that calls as SourceId.</summary>
    internal const bool ClientsAreSources = true;
}
