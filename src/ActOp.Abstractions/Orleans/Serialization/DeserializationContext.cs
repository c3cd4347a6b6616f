namespace Orleans.Serialization;

/// <summary>What an object that was read may use.</summary>
public abstract class DeserializationContext
{
    /// <summary>The part of the silo or client that sends calls.</summary>
    /// <exception cref="InvalidOperationException">The object was read outside of a silo or client.</exception>
    public abstract object RuntimeClient { get; }

    /// <summary>The services of the silo, client or serializer that has read the object.</summary>
    public abstract IServiceProvider ServiceProvider { get; }
}

/// <summary>
/// Is told when an object was read. Called for classes with <c>[SerializationCallbacks(typeof(OnDeserializedCallbacks))]</c>.
/// </summary>
public interface IOnDeserialized
{
    /// <summary>All members are set.</summary>
    void OnDeserialized(DeserializationContext context);
}
