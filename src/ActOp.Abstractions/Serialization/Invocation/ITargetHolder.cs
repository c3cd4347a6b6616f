namespace Orleans.Serialization.Invocation;

/// <summary>What holds the target of a call.</summary>
public interface ITargetHolder
{
    /// <summary>A component of the holder, or null.</summary>
    object? GetComponent(Type componentType);

    /// <summary>The object that the call is invoked on.</summary>
    object? GetTarget();
}
