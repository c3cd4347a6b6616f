namespace Orleans.Serialization;

/// <summary>A value could not be written, read or copied.</summary>
public class SerializerException : Exception
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public SerializerException()
        : base("The value could not be serialized.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public SerializerException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public SerializerException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
