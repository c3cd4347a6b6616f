namespace ActOp.Serialization;

/// <summary>Names and codecs of the types that need no generated code.</summary>
internal static partial class BuiltIn
{
    private static readonly Lock Gate = new();
    private static volatile bool s_registered;

    /// <summary>Registers everything at the first use.</summary>
    internal static void Register()
    {
        if (s_registered)
            return;
        lock (Gate)
        {
            if (s_registered)
                return;
            Names();
            s_registered = true;
        }
    }

    private static void Names()
    {
        foreach (var type in (ReadOnlySpan<Type>)[typeof(bool), typeof(byte), typeof(sbyte), typeof(short), typeof(ushort), typeof(int), typeof(uint), typeof(long), typeof(ulong), typeof(char), typeof(float), typeof(double), typeof(string), typeof(object)])
            TypeManifest.AddType(type, type.FullName!);
    }
}
