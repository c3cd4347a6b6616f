namespace Orleans.Serialization.Activators;

/// <summary>Makes the objects of a type that are read or copied; see <see cref="RegisterActivatorAttribute"/>.</summary>
/// <typeparam name="T">The type, which is marked with <see cref="UseActivatorAttribute"/>.</typeparam>
public interface IActivator<T>
{
    /// <summary>A new object, whose members are set afterwards. Called by any thread.</summary>
    T Create();
}
